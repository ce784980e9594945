"""Simulation of successive calls, each of which replaces nodes by delegate kernels.

Each call starts from the execution plan that the previous call left. Source:
``Subgraph::ReplaceNodeSubsetsWithDelegateKernels`` (``core/subgraph.cc``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..model.model import Node
from .graph import Graph, has_side_effects
from .partition import Subset, is_in_order, partition

_MOST_CALLS = 3
"""Largest number of calls that are simulated one after another. Further calls are assumed to keep the order of the plan."""
_MOST_BITS = 1 << 28
"""Limit for calls that are simulated together: the largest product of the number of operands and the number of calls."""

DELEGATE = 51
"""The builtin code of a delegate kernel."""


class ReplacingCall(NamedTuple):
    """The counts that the runtime logs for one call: replaced nodes, nodes in the plan, and partitions."""

    replaced: int
    total: int
    partitions: int


def with_kernels(graph: Graph, subsets: Sequence[Subset], name: str) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """Replace each delegated partition by a kernel. Return the new nodes of the graph and the new execution plan."""
    nodes = list(graph.nodes)
    plan: list[int] = []
    for subset in subsets:
        if subset.is_delegated:
            plan.append(len(nodes))
            nodes.append(Node(len(nodes), name, DELEGATE, None, 1, subset.inputs, subset.outputs, (), None, None))
        else:
            plan += subset.nodes
    return tuple(nodes), tuple(plan)


class InCalls(NamedTuple):
    """The result of several calls: the final partitions in run order, and the counts of each call."""

    subsets: tuple[Subset, ...]
    calls: tuple[ReplacingCall, ...]
    is_exact: bool
    """False if some calls were not simulated, so that the real order of the plan may be different."""


def partition_in_calls(graph: Graph, calls: Sequence[Collection[int]], name: str) -> InCalls:
    """Simulate calls that replace nodes by kernels. Each collection in ``calls`` has the nodes of one call.

    ``name`` is the delegate's name. Raise PartitionError if the graph has a cycle.
    """
    now, made, reports = graph, dict[int, Subset](), list[ReplacingCall]()
    taken = {node for nodes in calls for node in nodes}
    plan = now.execution_plan
    for number, nodes in enumerate(calls):
        together = _in_single_calls(now, calls[number:])
        if together is not None:
            plan, further = together
            reports += further
            break
        if number >= _MOST_CALLS:
            break
        subsets = partition(now, nodes)
        reports.append(ReplacingCall(len(nodes), len(now.execution_plan), len(subsets)))
        delegated = [subset for subset in subsets if subset.is_delegated]
        made.update(enumerate(delegated, len(now.nodes)))
        new_nodes, plan = with_kernels(now, subsets, name)
        now = replace(now, nodes=new_nodes, execution_plan=plan)
    groups: list[tuple[bool, list[int]]] = []
    for node in plan:
        if node in made or node in taken:
            groups.append((True, list(made[node].nodes) if node in made else [node]))
        elif groups and not groups[-1][0]:
            groups[-1][1].append(node)
        else:
            groups.append((False, [node]))
    return InCalls(_with_borders(graph, groups), tuple(reports), len(reports) == len(calls))


def _in_single_calls(graph: Graph, calls: Sequence[Collection[int]]) -> tuple[tuple[int, ...], list[ReplacingCall]] | None:
    """Simulate all calls at once if each call replaces one node. Return the final plan and the counts of each call.

    In the plan, a replaced node keeps its index. Return None if the plan is not in order, if the model's metadata fixes an
    order, or if a replaced node has side effects.

    A call moves the node that it replaces to the end of the plan, together with all nodes that wait for this node. The order
    within both groups stays the same. If the plan begins with the replaced node, the call moves nothing. The last call
    therefore decides first about the final order, then the call before it, and so on. Each node has a number with one bit for
    each call that moves the node. The final plan is sorted by this number.
    """
    singles = [node for nodes in calls for node in nodes]
    if len(singles) != len(calls) or any(len(nodes) != 1 for nodes in calls):
        return None
    plan, nodes = graph.execution_plan, graph.nodes
    stateful = {index for index in plan if has_side_effects(graph, nodes[index])}
    if graph.control_edges or not stateful.isdisjoint(singles) or not is_in_order(graph):
        return None
    operands = sum([len(nodes[index].inputs) + len(nodes[index].outputs) for index in plan])
    followed = singles[: max(1, _MOST_BITS // max(1, operands))]
    bit_of = {node: 1 << number for number, node in enumerate(followed) if node != plan[0]}
    moves: dict[int, int] = {}
    """For each node, a bit for each call that moves the node."""
    moves_of_tensor: dict[int, int] = {}
    moves_of_stateful = 0
    for index in plan:
        node = nodes[index]
        own = bit_of.get(index, 0)
        for tensor in node.inputs:
            own |= moves_of_tensor.get(tensor, 0)
        if index in stateful:  # nodes with side effects keep their order
            own |= moves_of_stateful
            moves_of_stateful = own
        moves[index] = own
        moves_of_tensor.update([(tensor, own) for tensor in node.outputs if tensor >= 0])

    def partitions(index: int) -> int:
        if index == plan[0]:
            return min(2, len(plan))
        return 3 if any(tensor in graph.readers for tensor in nodes[index].outputs if tensor >= 0) else 2

    reports = [ReplacingCall(1, len(plan), partitions(index)) for index in followed]
    return tuple(sorted(plan, key=moves.__getitem__)), reports


def _with_borders(graph: Graph, groups: Sequence[tuple[bool, list[int]]]) -> tuple[Subset, ...]:
    writer: dict[int, int] = {}
    inputs: list[set[int]] = [set() for _ in groups]
    outputs: list[set[int]] = [set() for _ in groups]
    for number, (_, nodes) in enumerate(groups):
        for index in nodes:
            writer.update((tensor, number) for tensor in graph.nodes[index].outputs if tensor >= 0)
    for number, (_, nodes) in enumerate(groups):
        read = {tensor for index in nodes for tensor in graph.nodes[index].inputs if tensor >= 0}
        inputs[number] = {tensor for tensor in read if writer.get(tensor) != number}
        for tensor in inputs[number]:
            if tensor in writer:
                outputs[writer[tensor]].add(tensor)
    for tensor in graph.outputs:
        if tensor in writer:
            outputs[writer[tensor]].add(tensor)
    return tuple(
        [
            Subset(is_delegated, tuple(nodes), tuple(sorted(read)), tuple(sorted(written)))
            for (is_delegated, nodes), read, written in zip(groups, inputs, outputs, strict=True)
        ]
    )
