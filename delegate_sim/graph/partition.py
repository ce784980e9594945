"""The runtime's partitioner, which groups the nodes of a graph into partitions.

Source: ``PartitionGraphIntoIndependentNodeSubsets`` in ``graph_info.cc`` and ``Subgraph::PartitionGraph`` in
``core/subgraph.cc``.

The subsets, their order, and the order of the nodes in each subset are the same as upstream. Upstream scans all nodes
repeatedly until nothing changes. This module is faster. If a plan writes every tensor before it reads the tensor, one scan is
enough. For all other plans, heaps contain the nodes that are ready to run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ..model.model import ControlEdges
from .graph import CALLING_OPS, Graph, has_side_effects

_NOT_READY = -1
_ALWAYS_READY = -2


class PartitionError(Exception):
    """Raised if some nodes can never run because they wait for each other."""


class Subset(NamedTuple):
    """One partition: nodes that run together, and the tensors that cross the partition's boundary.

    ``nodes`` are node indices in run order. ``inputs`` and ``outputs`` are sorted tensor indices. ``inputs`` also has the
    constants.
    """

    is_delegated: bool
    nodes: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def partition(graph: Graph, delegated: Collection[int]) -> tuple[Subset, ...]:
    """Split the graph's execution plan into subsets of delegated nodes and subsets of CPU nodes.

    Return the subsets in run order. If the graph has no control edges, nodes with side effects run in plan order. Raise
    PartitionError if the graph has a cycle. Results are cached, because several delegates often accept the same nodes.
    """
    chosen = tuple(delegated)
    return graph.results.get("partition", (chosen,), lambda: _partitioned(graph, chosen))


def _partitioned(graph: Graph, delegated: tuple[int, ...]) -> tuple[Subset, ...]:
    control_edges, is_ordered = graph.results.get("order", (), lambda: _order(graph))
    if is_ordered:
        return _in_one_scan(graph, delegated, control_edges)
    run = _Partitioner(graph, delegated, control_edges)
    run.gather()
    return run.finish()


def _order(graph: Graph) -> tuple[ControlEdges, bool]:
    control_edges = _side_effect_chain(graph) if graph.control_edges is None else graph.control_edges
    return control_edges, is_in_order(graph) and all(before < after for before, after in control_edges)


def is_in_order(graph: Graph) -> bool:
    """Return whether the plan writes each tensor at most once, and writes no tensor after a node has read it."""
    nodes = graph.nodes
    known = set[int]()
    for index in graph.execution_plan:
        node = nodes[index]
        known.update(node.inputs)
        for tensor in node.outputs:
            if tensor in known and tensor >= 0:
                return False
        known.update(node.outputs)
    return True


class _Epoch(NamedTuple):
    """Nodes on one side (delegate or CPU) that run together, and the tensors that cross their boundary."""

    nodes: list[int]
    inputs: list[int]
    outputs: list[int]


def _in_one_scan(graph: Graph, delegated: Collection[int], control_edges: ControlEdges) -> tuple[Subset, ...]:
    """Partition a plan that is in order.

    Epochs of delegated nodes alternate with epochs of CPU nodes. A node is in the earliest epoch of its side that does not
    come before the epochs of the nodes that it waits for.
    """
    nodes, plan = graph.nodes, graph.execution_plan
    taken = set(delegated)
    first = bool(plan) and plan[0] in taken
    waits_for = _waits_for(plan, control_edges)
    awaited = dict.fromkeys([before for waiting in waits_for.values() for before in waiting], 0)
    epoch_of = [_ALWAYS_READY] * (len(graph.tensors) + 1)  # the last element is for omitted tensors, whose index is -1
    epochs: list[_Epoch] = []
    for index in plan:
        node = nodes[index]
        inputs = node.inputs
        kind = epoch = 0 if (index in taken) is first else 1
        for tensor in inputs:
            source = epoch_of[tensor]
            if source > epoch:  # noqa: PLR1730  # a call of max takes longer
                epoch = source
        if index in waits_for:
            epoch = max(epoch, *map(awaited.__getitem__, waits_for[index]))
        if epoch & 1 != kind:
            epoch += 1
        if index in awaited:
            awaited[index] = epoch
        if epoch == len(epochs):
            epochs.append(_Epoch([], [], []))
        own = epochs[epoch]
        own.nodes.append(index)
        for tensor in inputs:
            source = epoch_of[tensor]
            if source != epoch and tensor >= 0:
                own.inputs.append(tensor)
                if source >= 0:
                    epochs[source].outputs.append(tensor)
        for tensor in node.outputs:
            epoch_of[tensor] = epoch
        epoch_of[-1] = _ALWAYS_READY
    for tensor in graph.outputs:
        if epoch_of[tensor] >= 0:
            epochs[epoch_of[tensor]].outputs.append(tensor)
    return tuple(
        [
            Subset(bool(number & 1) != first, tuple(own), tuple(sorted(set(read))), tuple(sorted(set(written))))
            for number, (own, read, written) in enumerate(epochs)
        ]
    )


def _waits_for(plan: Sequence[int], control_edges: ControlEdges) -> Mapping[int, Sequence[int]]:
    earlier: dict[int, list[int]] = {}
    for before, after in control_edges:
        if before >= 0 and after < len(plan):
            earlier.setdefault(plan[after], []).append(plan[before])
    return earlier


def _dependencies(graph: Graph) -> tuple[list[int], list[int], dict[int, list[int]]]:
    """Return what each node of a plan waits for. A node is given as its position in the plan.

    The first list has ``_NOT_READY`` for each tensor that a node of the plan writes, and ``_ALWAYS_READY`` for all other
    tensors. The second list has the number of tensors that each node waits for. The mapping has the nodes that wait for each
    tensor.
    """
    nodes = [graph.nodes[index] for index in graph.execution_plan]
    epochs = [_ALWAYS_READY] * len(graph.tensors)
    for node in nodes:
        for tensor in node.outputs:
            if tensor >= 0:
                epochs[tensor] = _NOT_READY
    waiting_for = [0] * len(nodes)
    readers: dict[int, list[int]] = {}
    for position, node in enumerate(nodes):
        for tensor in set(node.inputs):
            if tensor >= 0 and epochs[tensor] == _NOT_READY:
                readers.setdefault(tensor, []).append(position)
                waiting_for[position] += 1
    return epochs, waiting_for, readers


def _side_effect_chain(graph: Graph) -> ControlEdges:
    nodes = [graph.nodes[index] for index in graph.execution_plan]
    if not graph.resources and CALLING_OPS.isdisjoint([node.op for node in nodes]):
        return ()
    stateful = [position for position, node in enumerate(nodes) if has_side_effects(graph, node)]
    return tuple(zip(stateful, stateful[1:], strict=False))


class _Partitioner:
    """One run of the partitioner, which assigns each position of the execution plan to an epoch.

    Each epoch becomes a subset.
    """

    def __init__(self, graph: Graph, delegated: Collection[int], control_edges: ControlEdges) -> None:
        taken = set(delegated)
        # ``waiting_for`` also counts the control edges, which are added below.
        self.tensor_epoch, self.waiting_for, self.readers = _dependencies(graph)
        self.graph = graph
        self.plan = graph.execution_plan
        self.nodes = [graph.nodes[index] for index in self.plan]
        self.is_delegated = [index in taken for index in self.plan]
        self.is_done = [False] * len(self.nodes)
        self.ready: tuple[list[int], list[int]] = ([], [])
        """Heaps with the positions of nodes that are ready to run: first the CPU nodes, second the delegated nodes."""
        self.subsets: list[tuple[bool, list[int], set[int], set[int]]] = []
        self.followers: dict[int, list[int]] = {}
        for before, after in sorted(set(control_edges)):
            if 0 <= before < len(self.nodes) and 0 <= after < len(self.nodes):
                self.followers.setdefault(before, []).append(after)
                self.waiting_for[after] += 1
        for position, count in enumerate(self.waiting_for):
            if not count:
                self.ready[self.is_delegated[position]].append(position)

    def gather(self) -> None:
        """Assign all nodes to epochs.

        In repeated passes over the plan, an epoch takes every node of its side that is ready.
        """
        is_delegated, assign = self.is_delegated, self._assign
        while self._first_ready(False) is not None or self._first_ready(True) is not None:
            kind = self._start_epoch()
            others = self.ready[not kind]
            this_pass, next_pass = self.ready[kind], list[int]()
            while this_pass:
                position = heappop(this_pass)
                for released in assign(position):
                    if is_delegated[released] != kind:
                        heappush(others, released)
                    else:
                        heappush(this_pass if released > position else next_pass, released)
                if not this_pass:
                    this_pass, next_pass = next_pass, this_pass

    def _first_ready(self, kind: bool) -> int | None:
        heap = self.ready[kind]
        while heap and self.is_done[heap[0]]:
            heappop(heap)
        return heap[0] if heap else None

    def _start_epoch(self) -> bool:
        other, delegated = self._first_ready(False), self._first_ready(True)
        kind = delegated is not None and (other is None or delegated < other)
        self.subsets.append((kind, [], set(), set()))
        return kind

    def _assign(self, position: int) -> list[int]:
        epoch_of, waiting_for = self.tensor_epoch, self.waiting_for
        epoch = len(self.subsets) - 1
        _, nodes, inputs, _ = self.subsets[epoch]
        self.is_done[position] = True
        nodes.append(self.plan[position])
        node = self.nodes[position]
        released: list[int] = []
        for tensor in node.outputs:
            if tensor >= 0:
                if epoch_of[tensor] == _NOT_READY:
                    for waiting in self.readers.get(tensor, ()):
                        waiting_for[waiting] -= 1
                        if not waiting_for[waiting]:
                            released.append(waiting)
                epoch_of[tensor] = epoch
        for tensor in node.inputs:
            if tensor >= 0 and (source := epoch_of[tensor]) != epoch:
                inputs.add(tensor)
                if source >= 0:
                    self.subsets[source][3].add(tensor)
        for waiting in self.followers.get(position, ()):
            waiting_for[waiting] -= 1
            if not waiting_for[waiting]:
                released.append(waiting)
        return released

    def finish(self) -> tuple[Subset, ...]:
        """Add each output of the graph to the outputs of the subset that writes it, and return the subsets."""
        if not all(self.is_done):
            raise PartitionError("some nodes wait for each other's results")
        for tensor in self.graph.outputs:
            if tensor >= 0 and self.tensor_epoch[tensor] >= 0:
                self.subsets[self.tensor_epoch[tensor]][3].add(tensor)
        return tuple(
            Subset(kind, tuple(nodes), tuple(sorted(inputs)), tuple(sorted(outputs)))
            for kind, nodes, inputs, outputs in self.subsets
        )
