"""Grouping of selected nodes into partitions. Each partition is compiled separately.

Source: ``GroupPartitionsV2`` and ``GroupPartitions`` (``litert/compiler/plugin/algo.cc``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from ...graph.graph import Graph
from ...graph.partition import Subset

DEFAULT, WEAKLY_CONNECTED = "default", "weakly_connected"
STRATEGIES = (DEFAULT, WEAKLY_CONNECTED)

NodeGroup = tuple[int, ...]


def grouped(graph: Graph, selected: Collection[int], strategy: str) -> tuple[NodeGroup, ...]:
    """Return the selected nodes in groups. The nodes of each group are in running order."""
    return weakly_connected(graph, selected) if strategy == WEAKLY_CONNECTED else runs(graph, selected)


def runs(graph: Graph, selected: Collection[int]) -> tuple[NodeGroup, ...]:
    """Group the selected nodes that are consecutive in the execution plan."""
    groups: list[list[int]] = []
    is_open = False
    for index in graph.execution_plan:
        if index in selected:
            if not is_open:
                groups.append([])
            groups[-1].append(index)
        is_open = index in selected
    return tuple(map(tuple, groups))


def weakly_connected(graph: Graph, selected: Collection[int]) -> tuple[NodeGroup, ...]:
    """Group the selected nodes. If one selected node reads a result of another, one group contains both nodes.

    The nodes of a group need not be consecutive in the execution plan.
    """
    parents = {index: index for index in graph.execution_plan if index in selected}

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    for index in parents:
        for tensor in graph.nodes[index].outputs:
            for reader in graph.readers.get(tensor, ()) if tensor >= 0 else ():
                if reader.index in parents:
                    parents[root(index)] = root(reader.index)
    groups: dict[int, list[int]] = {}
    for index in parents:
        groups.setdefault(root(index), []).append(index)
    return tuple(map(tuple, groups.values()))


def in_running_order(graph: Graph, groups: tuple[NodeGroup, ...]) -> tuple[tuple[Subset, ...], bool]:
    """Return the groups and the unselected nodes in running order, and whether a running order exists.

    Each group runs as a whole. If groups wait for each other's results, no running order exists. In this case, each group gets
    the position of its last node. The result is cached for plugins that select the same nodes.
    """
    return graph.results.get("running order", (groups,), lambda: _in_running_order(graph, groups))


def _in_running_order(graph: Graph, groups: Sequence[NodeGroup]) -> tuple[tuple[Subset, ...], bool]:
    position = {index: number for number, index in enumerate(graph.execution_plan)}
    steps = [(group, True) for group in groups]
    grouped = {index for group in groups for index in group}
    steps += [((index,), False) for index in graph.execution_plan if index not in grouped]
    steps.sort(key=lambda step: position[step[0][-1]])
    order = _dependency_order(graph, [nodes for nodes, _ in steps])
    is_sorted = order is not None
    subsets: list[tuple[bool, list[int]]] = []
    for nodes, is_taken in [steps[number] for number in order] if order is not None else steps:
        if is_taken or not subsets or subsets[-1][0]:
            subsets.append((is_taken, []))
        subsets[-1][1].extend(nodes)
    return _subsets(graph, subsets), is_sorted


def _dependency_order(graph: Graph, steps: Sequence[NodeGroup]) -> list[int] | None:
    if len(steps) == 1:
        return [0]
    step_of = {index: number for number, nodes in enumerate(steps) for index in nodes}
    before: list[set[int]] = [set() for _ in steps]
    after: list[set[int]] = [set() for _ in steps]
    for writer, reader, _ in graph.links:
        if reader not in step_of:
            continue
        number = step_of[reader]
        source = step_of.get(writer, number)
        if source != number:
            before[number].add(source)
            after[source].add(number)
    if all(source < number for number, sources in enumerate(before) for source in sources):
        return list(range(len(steps)))
    from heapq import heapify, heappop, heappush

    waiting = [len(sources) for sources in before]
    ready = [number for number, count in enumerate(waiting) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        number = heappop(ready)
        order.append(number)
        for follower in after[number]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heappush(ready, follower)
    return order if len(order) == len(steps) else None


def _subsets(graph: Graph, parts: Sequence[tuple[bool, Sequence[int]]]) -> tuple[Subset, ...]:
    nodes = graph.nodes
    read = [{tensor for index in indices for tensor in nodes[index].inputs if tensor >= 0} for _, indices in parts]
    written = [{tensor for index in indices for tensor in nodes[index].outputs if tensor >= 0} for _, indices in parts]
    results = frozenset(graph.outputs)
    readers = Counter([tensor for tensors in read for tensor in tensors])
    subsets = []
    for (is_taken, indices), own_read, own_written in zip(parts, read, written, strict=True):
        leaving = [tensor for tensor in own_written if tensor in results or readers[tensor] > (tensor in own_read)]
        subsets.append(Subset(is_taken, tuple(indices), tuple(sorted(own_read - own_written)), tuple(sorted(leaving))))
    return tuple(subsets)
