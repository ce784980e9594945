"""Log lines that appear twice because the runtime applies a delegate to a called subgraph a second time.

Preparing an IF, a WHILE or a composite resizes the inputs of the called subgraph. If these inputs have no data of their own,
the resize undoes a delegate without the dynamic-tensors flag. This happens even if no shape changes. The runtime applies the
delegate again when it allocates the tensors. The second application delegates the same nodes and logs the same lines. The
condition subgraph of a WHILE is not resized, so the delegate is applied to it only once.

Source: ``Subgraph::ResizeInputTensor``, ``UndoAllDelegates`` and ``RedoAllDelegates`` (``core/subgraph.cc``);
``CopyTensorsShapeAndType`` (``kernels/control_flow_common.h``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..graph.graph import Graph
from ..model.model import OPTIONAL_TENSOR, Allocation
from ..releases.catalogue import Release, parse_release
from ..releases.wording import redoing_line

_MOST_REPEATED = 1000
"""Largest number of second applications for which log lines are returned.

Each level of nesting doubles the number of applications.
"""
_USUAL_LINES = 10
"""Number of lines of a second application that do not reduce the number of further second applications."""

_CALLED: Mapping[str, Callable[[Any], tuple[int, ...]]] = {
    "IF": lambda options: (options.then_subgraph_index, options.else_subgraph_index),
    "WHILE": lambda options: (options.body_subgraph_index,),
    "STABLEHLO_COMPOSITE": lambda options: (options.decomposition_subgraph_index,),
}
"""For each operator, the called subgraphs that the runtime resizes, in the order of their preparation."""

_LINE_KNOWN_SINCE = parse_release("litert-2.0.0")


class _Applied(NamedTuple):
    graph: Graph
    lines: tuple[str, ...]
    delegated: frozenset[int]


class Reapplications:
    """The lines that the runtime logs when it applies the delegate to called subgraphs again.

    This happens while the runtime prepares the calling subgraph.
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self._applied: dict[int, _Applied] = {}
        self._left = _MOST_REPEATED
        self._calling: list[int] = []

    @property
    def is_cut_short(self) -> bool:
        """Whether some lines were left out."""
        return self._left < 0

    def note(self, graph: Graph, lines: Sequence[str], delegated: frozenset[int]) -> None:
        """Record that the delegate was applied to a subgraph."""
        self._applied[graph.index] = _Applied(graph, tuple(lines), delegated)

    def lines(self, graph: Graph, delegated: Collection[int] = ()) -> Iterator[str]:
        """Yield the lines that the runtime logs when it prepares the nodes of a subgraph, except the nodes in ``delegated``."""
        for index in graph.results.get("calling nodes", (), lambda: _calling_nodes(graph)):
            if index in delegated:
                continue
            node = graph.nodes[index]
            for called in _CALLED[node.op](graph.view(node).options):
                applied = self._applied.get(called)
                if applied is not None and _owns_no_data(applied.graph):
                    yield from self._again(applied)

    def _again(self, applied: _Applied) -> Iterator[str]:
        if applied.graph.index in self._calling or self._left < 0:
            return
        self._left -= 1 + len(applied.lines) // _USUAL_LINES
        self._calling.append(applied.graph.index)
        if self._release.is_at_least(_LINE_KNOWN_SINCE):
            yield redoing_line(1)
        yield from self.lines(applied.graph)
        yield from applied.lines
        yield from self.lines(applied.graph, applied.delegated)
        self._calling.pop()


def _calling_nodes(graph: Graph) -> tuple[int, ...]:
    return tuple(
        [index for index in graph.execution_plan if graph.nodes[index].op in _CALLED and not graph.nodes[index].is_custom]
    )


def _owns_no_data(graph: Graph) -> bool:
    return any(index != OPTIONAL_TENSOR and graph.tensors[index].allocation is Allocation.CUSTOM for index in graph.inputs)
