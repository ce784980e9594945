"""The buffers that share the head of the arena, and the steps in which each buffer is used.

Source: ``AllocationInfoBuilder`` (``micro_allocation_info.cc``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..bundles.ranged import unpacked
from ..errors import LimitError
from ..graph.graph import Graph
from ..model.model import Model, Node
from .graph import byte_size, is_allocated
from .planner import ONLINE, Requirement, aligned
from .preparation import Preparation

OFFLINE_METADATA = "OfflineMemoryAllocation"
"""The name of the metadata that fixes the places of tensors."""
_CALLS = {
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "CALL_ONCE": ("init_subgraph_index",),
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
}
_UNUSED = -1
_MOST_STEPS = 2**31 - 1
"""Largest number of steps that the runtime can count. A run of each node and each call of a subgraph is a step."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer in the head: a tensor, or a scratch buffer of a node (``tensor`` is None)."""

    subgraph: int
    tensor: int | None
    node: int | None
    name: str
    requirement: Requirement


@dataclass(slots=True)
class _Lifetime:
    """The first and last step that use a buffer, counted from the step before the subgraph's first node."""

    first: int = _UNUSED
    last: int = _UNUSED

    def create(self, step: int) -> None:
        if self.first == _UNUSED:
            self.first = step

    def use(self, step: int) -> None:
        self.last = step

    def between(self, first: int, last: int) -> tuple[int, int]:
        """Return the steps if the subgraph runs first after step ``first``, and last after step ``last``."""
        return (_UNUSED if self.first == _UNUSED else self.first + first, _UNUSED if self.last == _UNUSED else self.last + last)


class _Lifetimes:
    """The lifetimes of the tensors and scratch buffers of one subgraph, and the steps at which it calls other subgraphs.

    ``steps`` has the number of steps of each called subgraph. All runs of a subgraph have the same steps.
    """

    def __init__(self, graph: Graph, requests: Mapping[int, Sequence[_Lifetime]], steps: Mapping[int, int]) -> None:
        self.tensors = [_Lifetime() for _ in graph.tensors]
        self.calls: list[tuple[int, int]] = []
        """The calls, as pairs of a subgraph and the step before its first node."""
        self.steps = 0
        self._mark_interface(graph.inputs)
        for node in graph.nodes:
            self._mark_node(graph, node, requests.get(node.index, ()), steps)
        self._mark_interface(graph.outputs)

    def _mark_interface(self, indices: Sequence[int]) -> None:
        for index in indices:
            if index >= 0:
                self.tensors[index].create(self.steps)
                self.tensors[index].use(self.steps)

    def _mark_node(self, graph: Graph, node: Node, requests: Sequence[_Lifetime], steps: Mapping[int, int]) -> None:
        self.steps += 1
        results = [tensor for tensor in node.outputs if tensor >= 0]
        for tensor in results:
            self.tensors[tensor].create(self.steps)
        for request in requests:
            request.create(self.steps)
        for called in _called_subgraphs(graph.model, node):
            self.steps += 1
            # The runtime does not support recursion, so the number of steps of a calling subgraph is not known.
            if called in steps:
                self.calls.append((called, self.steps))
                self.steps += steps[called]
        for tensor in (*[tensor for tensor in node.inputs if tensor >= 0], *results):
            self.tensors[tensor].use(self.steps)
        for request in requests:
            request.use(self.steps)


def _called_subgraphs(model: Model, node: Node) -> tuple[int, ...]:
    if node.is_custom or node.op not in _CALLS:
        return ()
    options = model.options(node)
    return tuple([getattr(options, name) for name in _CALLS[node.op]])


def _callees_first(model: Model) -> tuple[int, ...]:
    """Return the first subgraph and all subgraphs that it calls. A subgraph follows the subgraphs that it calls."""
    order: list[int] = []
    seen = {0}
    waiting = [(0, iter(_calls_of(model, 0)))]
    while waiting:
        index, calls = waiting[-1]
        called = next((called for called in calls if called not in seen), None)
        if called is None:
            order.append(index)
            waiting.pop()
        else:
            seen.add(called)
            waiting.append((called, iter(_calls_of(model, called))))
    return tuple(order)


def _calls_of(model: Model, index: int) -> Iterator[int]:
    for node in model.subgraphs[index].nodes:
        for called in _called_subgraphs(model, node):
            if 0 <= called < len(model.subgraphs):
                yield called


def offline_offsets(model: Model) -> Sequence[int] | None:
    """Return the offset that the model's metadata gives for each tensor, or None if there is no such metadata.

    An offset of -1 means that the metadata does not fix the tensor's place.
    """
    span = model.metadata.get(OFFLINE_METADATA)
    if span is None or span[1] < 12:
        return None
    offset, size = span
    count = min((size - 12) // 4, sum([len(subgraph.tensors) for subgraph in model.subgraphs]))
    return unpacked(struct.Struct(f"<{count}i"), model.content, offset + 12)


def planned_buffers(model: Model, preparation: Preparation) -> tuple[Buffer, ...]:
    """Return the buffers in the order in which the runtime adds them to the plan.

    Raise LimitError if the calls of subgraphs have more steps than the runtime can count.
    """
    graphs = preparation.graphs
    scratch = [_Lifetime() for _ in preparation.scratch]
    requests: list[dict[int, list[_Lifetime]]] = [{} for _ in graphs]
    for request, lifetime in zip(preparation.scratch, scratch, strict=True):
        requests[request.subgraph].setdefault(request.node, []).append(lifetime)
    marked: dict[int, _Lifetimes] = {}
    steps: dict[int, int] = {}
    for index in _callees_first(model) if graphs else ():
        marked[index] = _Lifetimes(graphs[index], requests[index], steps)
        steps[index] = marked[index].steps
        if steps[index] > _MOST_STEPS:
            raise LimitError("its subgraphs call each other so often that no memory plan ends", model.path or "the model")
    runs = _runs(marked)
    fixed = offline_offsets(model)
    buffers: list[Buffer] = []
    number = 0
    for graph in graphs:
        handles = {node.output(0) for node in graph.nodes if node.op == "VAR_HANDLE" and not node.is_custom}
        for tensor in graph.tensors:
            place = fixed[number] if fixed is not None and number < len(fixed) else ONLINE
            number += 1
            size = byte_size(tensor)
            is_planned = is_allocated(tensor) and tensor.index not in handles and size != 0
            if is_planned and (not tensor.is_variable or place != ONLINE):
                lifetime = marked[graph.index].tensors[tensor.index] if graph.index in marked else _Lifetime()
                requirement = Requirement(aligned(size), *lifetime.between(*runs.get(graph.index, (0, 0))), place)
                buffers.append(Buffer(graph.index, tensor.index, None, tensor.name, requirement))
    for request, lifetime in zip(preparation.scratch, scratch, strict=True):
        name = f"scratch buffer of {graphs[request.subgraph].nodes[request.node].op} {request.node}"
        requirement = Requirement(aligned(request.size), *lifetime.between(*runs.get(request.subgraph, (0, 0))))
        buffers.append(Buffer(request.subgraph, None, request.node, name, requirement))
    return tuple(buffers)


def _runs(marked: dict[int, _Lifetimes]) -> Mapping[int, tuple[int, int]]:
    runs = {0: (0, 0)}
    for index in reversed(marked):
        first, last = runs[index]
        for called, step in marked[index].calls:
            known = runs.get(called, (first + step, last + step))
            runs[called] = min(known[0], first + step), max(known[1], last + step)
    return runs
