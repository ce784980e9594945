"""The buffers that share the head of the arena, and the steps in which each buffer is used.

Source: ``AllocationInfoBuilder`` (``micro_allocation_info.cc``).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..bundles.ranged import unpacked
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
    first: int = _UNUSED
    last: int = _UNUSED

    def create(self, step: int) -> None:
        if self.first == _UNUSED:
            self.first = step

    def use(self, step: int) -> None:
        self.last = step


@dataclass(slots=True)
class _Marking:
    """The lifetimes of all tensors and scratch buffers. They are collected by visiting subgraphs in the order of their calls."""

    preparation: Preparation
    tensors: list[list[_Lifetime]]
    scratch: list[_Lifetime]
    step: int = 0
    active: list[int] = field(default_factory=list)

    def mark(self, index: int) -> None:
        graph = self.preparation.graphs[index]
        self.active.append(index)
        self.mark_interface(index, graph.inputs)
        for node in graph.nodes:
            self.mark_node(graph, node)
        self.mark_interface(index, graph.outputs)
        self.active.pop()

    def mark_interface(self, subgraph: int, indices: Sequence[int]) -> None:
        for index in indices:
            if index >= 0:
                tensor = self.tensors[subgraph][index]
                tensor.create(self.step)
                tensor.use(self.step)

    def mark_node(self, graph: Graph, node: Node) -> None:
        tensors = self.tensors[graph.index]
        self.step += 1
        results = [tensor for tensor in node.outputs if tensor >= 0]
        for tensor in results:
            tensors[tensor].create(self.step)
        start = self.step
        if not node.is_custom and node.op in _CALLS:
            options = graph.model.options(node)
            for name in _CALLS[node.op]:
                self.step += 1
                called = getattr(options, name)
                # The runtime does not support recursion.
                if 0 <= called < len(self.tensors) and called not in self.active:
                    self.mark(called)
        for tensor in (*[tensor for tensor in node.inputs if tensor >= 0], *results):
            tensors[tensor].use(self.step)
        for request, lifetime in zip(self.preparation.scratch, self.scratch, strict=True):
            if (request.subgraph, request.node) == (graph.index, node.index):
                lifetime.create(start)
                lifetime.use(self.step)


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
    """Return the buffers in the order in which the runtime adds them to the plan."""
    graphs = preparation.graphs
    marking = _Marking(
        preparation, [[_Lifetime() for _ in graph.tensors] for graph in graphs], [_Lifetime() for _ in preparation.scratch]
    )
    if graphs:
        marking.mark(0)
    fixed = offline_offsets(model)
    buffers: list[Buffer] = []
    number = 0
    for graph, lifetimes in zip(graphs, marking.tensors, strict=True):
        handles = {node.output(0) for node in graph.nodes if node.op == "VAR_HANDLE" and not node.is_custom}
        for tensor, lifetime in zip(graph.tensors, lifetimes, strict=True):
            place = fixed[number] if fixed is not None and number < len(fixed) else ONLINE
            number += 1
            size = byte_size(tensor)
            is_planned = is_allocated(tensor) and tensor.index not in handles and size != 0
            if is_planned and (not tensor.is_variable or place != ONLINE):
                requirement = Requirement(aligned(size), lifetime.first, lifetime.last, place)
                buffers.append(Buffer(graph.index, tensor.index, None, tensor.name, requirement))
    for request, lifetime in zip(preparation.scratch, marking.scratch, strict=True):
        name = f"scratch buffer of {graphs[request.subgraph].nodes[request.node].op} {request.node}"
        buffers.append(
            Buffer(request.subgraph, None, request.node, name, Requirement(aligned(request.size), lifetime.first, lifetime.last))
        )
    return tuple(buffers)
