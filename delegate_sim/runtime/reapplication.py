"""Subgraphs to which a delegate is applied again when a subgraph that calls them is prepared.

A delegate without the dynamic-tensors flag leaves a subgraph immutable. Preparing an IF, a WHILE or a composite hands its
operands over to the inputs of the subgraph that it calls. Those have no data of their own, so that they count as resized even
with the shape that they had: the runtime takes the delegate back, and applies it once more when it then allocates the tensors.
All this is printed again; what is delegated stays the same. Only the condition of a WHILE keeps its inputs, and is left alone.

Source: ``Subgraph::ResizeInputTensor``, ``UndoAllDelegates`` and ``RedoAllDelegates`` (``core/subgraph.cc``);
``CopyTensorsShapeAndType`` (``kernels/control_flow_common.h``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..graph.graph import Graph
from ..model.model import OPTIONAL_TENSOR, Allocation
from ..releases.catalogue import Release, parse_release
from ..releases.wording import redoing_line

_MOST_REPEATED = 1000
"""The number of times that subgraphs are applied again in all. Each level of nesting doubles it."""

_CALLED: Mapping[str, Callable[[Any], tuple[int, ...]]] = MappingProxyType(
    {
        "IF": lambda options: (options.then_subgraph_index, options.else_subgraph_index),
        "WHILE": lambda options: (options.body_subgraph_index,),
        "STABLEHLO_COMPOSITE": lambda options: (options.decomposition_subgraph_index,),
    }
)
"""The subgraphs that own none of their inputs' data, in the order in which the operator prepares them."""

_LINE_KNOWN_SINCE = parse_release("litert-2.0.0")


@dataclass(frozen=True, slots=True)
class _Applied:
    """A subgraph to which the delegate was applied: what was printed, and the nodes that it took."""

    graph: Graph
    lines: tuple[str, ...]
    delegated: frozenset[int]


class Reapplications:
    """Lines that are printed when subgraphs are prepared that call others, after one delegate was applied to those."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._applied: dict[int, _Applied] = {}
        self._left = _MOST_REPEATED
        self._calling: list[int] = []

    @property
    def is_cut_short(self) -> bool:
        """Whether more would be printed than is told."""
        return self._left < 0

    def note(self, graph: Graph, lines: Sequence[str], delegated: frozenset[int]) -> None:
        """Note that the delegate was applied to a subgraph."""
        self._applied[graph.index] = _Applied(graph, tuple(lines), delegated)

    def lines(self, graph: Graph, delegated: Collection[int] = ()) -> Iterator[str]:
        """Return what is printed when the nodes of a subgraph are prepared, but for those that the delegate took."""
        for index in graph.execution_plan:
            node = graph.nodes[index]
            if node.op not in _CALLED or node.is_custom or index in delegated:
                continue
            for called in _CALLED[node.op](graph.view(node).options):
                applied = self._applied.get(called)
                if applied is not None and _owns_no_data(applied.graph):
                    yield from self._again(applied)

    def _again(self, applied: _Applied) -> Iterator[str]:
        if applied.graph.index in self._calling or self._left < 0:
            return
        self._left -= 1
        self._calling.append(applied.graph.index)
        if self._release.is_at_least(_LINE_KNOWN_SINCE):
            yield redoing_line(1)
        yield from self.lines(applied.graph)
        yield from applied.lines
        yield from self.lines(applied.graph, applied.delegated)
        self._calling.pop()


def _owns_no_data(graph: Graph) -> bool:
    return any(index != OPTIONAL_TENSOR and graph.tensors[index].allocation is Allocation.CUSTOM for index in graph.inputs)
