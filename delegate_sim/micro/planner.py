"""The buffers that share the head of the arena, the steps that use each buffer, and the greedy planner that places them.

Source: ``AllocationInfoBuilder`` (``micro_allocation_info.cc``) and ``GreedyMemoryPlanner``
(``memory_planner/greedy_memory_planner.cc``).
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ..bundles.ranged import unpacked
from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised
from ..graph.graph import Graph
from ..model.model import Model, Node
from .checks import byte_size, is_allocated
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


_MOST_PAIRS = 12_500_000
"""Largest number of pairs of buffers that are used at the same time. Planning compares each of these pairs."""
ALIGNMENT = 16
ONLINE = -1
"""The value of ``offline_offset`` if the model file does not fix the offset of a buffer."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A buffer to place: its size, the first and last step that use it, and its offset if the model file fixes the offset."""

    size: int
    first: int
    last: int
    offline_offset: int = ONLINE


def aligned(size: int) -> int:
    """Return a size rounded up to the alignment of buffers."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def plan(requirements: Sequence[Requirement]) -> tuple[int, ...]:
    """Return the offset of each buffer.

    Buffers with a fixed offset come first. All other buffers are placed from the largest to the smallest. A buffer gets the first
    gap that is large enough between the placed buffers that are used at the same time. Raise LimitError if too many pairs of
    buffers are used at the same time.
    """
    pairs = count_pairs(requirements)
    if pairs > raised(_MOST_PAIRS):
        words = f"{pairs:,} pairs of buffers are used at the same time, too many for a memory plan"
        raise LimitError(f"{words}{how_to_raise()}")
    offline = [index for index, wanted in enumerate(requirements) if wanted.offline_offset != ONLINE]
    online = [index for index, wanted in enumerate(requirements) if wanted.offline_offset == ONLINE]
    # The planner reverses the list before a stable sort, so the last of several equal buffers comes first.
    online.sort(key=lambda index: (-requirements[index].size, -index))
    offsets = [0] * len(requirements)
    placed = _PlacedBuffers(requirements)
    for index in (*offline, *online):
        wanted = requirements[index]
        is_online = wanted.offline_offset == ONLINE
        offsets[index] = _first_gap(placed.used_with(wanted), wanted.size) if is_online else wanted.offline_offset
        placed.add(wanted, offsets[index])
    return tuple(offsets)


def count_pairs(requirements: Sequence[Requirement]) -> int:
    """Return the number of pairs of buffers that are used at the same time."""
    ends = sorted([wanted.last for wanted in requirements])
    starts = sorted([wanted.first for wanted in requirements])
    # The buffers that are created before a buffer, and that are still used when the buffer is created.
    return sum([number - bisect_left(ends, first) for number, first in enumerate(starts)])


_start, _end = itemgetter(0), itemgetter(1)
_Span = tuple[int, int]
"""The offset of one or several adjacent buffers, and the offset of their end."""


class _PlacedBuffers:
    """The placed buffers, by the steps that use them.

    The steps are the leaves of a binary tree, in which the nodes ``2 * n`` and ``2 * n + 1`` are below node ``n``. So few nodes
    have a step, and a range of steps consists of few nodes.
    """

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        steps = sorted({step for wanted in requirements for step in (wanted.first, wanted.last)})
        self._leaves = {step: len(steps) + number for number, step in enumerate(steps)}
        self._used: dict[int, list[_Span]] = {}
        """For each node of the tree, the memory that all its steps use, as spans with gaps between them, in order."""
        self._created: dict[int, list[_Span]] = {}
        """For each node of the tree, the memory of buffers that its steps create, as spans with gaps between them, in order."""

    def add(self, wanted: Requirement, offset: int) -> None:
        span = offset, offset + wanted.size
        first, last = self._leaves[wanted.first], self._leaves[wanted.last]
        for node in _nodes_of_range(first, last):
            _add(self._used.setdefault(node, []), *span)
        for node in _nodes_of_step(first):
            _add(self._created.setdefault(node, []), *span)

    def used_with(self, wanted: Requirement) -> list[_Span]:
        first, last = self._leaves[wanted.first], self._leaves[wanted.last]
        spans: list[_Span] = []
        for node in _nodes_of_step(first):
            spans += self._used.get(node, ())
        for node in _nodes_of_range(first + 1, last):
            spans += self._created.get(node, ())
        spans.sort()
        return spans


def _add(spans: list[_Span], start: int, end: int) -> None:
    first = bisect_left(spans, start, key=_end)
    last = bisect_right(spans, end, key=_start)
    if first < last:
        start, end = min(start, spans[first][0]), max(end, spans[last - 1][1])
    spans[first:last] = [(start, end)]


def _nodes_of_step(leaf: int) -> Iterator[int]:
    while leaf:
        yield leaf
        leaf //= 2


def _nodes_of_range(first: int, last: int) -> Iterator[int]:
    end = last + 1
    while first < end:
        if first % 2:
            yield first
            first += 1
        if end % 2:
            end -= 1
            yield end
        first //= 2
        end //= 2


def _first_gap(placed: Sequence[_Span], size: int) -> int:
    offset = 0
    for start, end in placed:
        if start - offset >= size:
            return offset
        offset = max(offset, end)
    return offset


def total_size(requirements: Sequence[Requirement], offsets: Sequence[int]) -> int:
    """Return the size of a plan in bytes."""
    return max([offset + wanted.size for wanted, offset in zip(requirements, offsets, strict=True)], default=0)
