"""Simulation of successive calls that replace nodes by delegate kernels.

Each call starts from the execution plan that the previous call left.

Source: ``Subgraph::ReplaceNodeSubsetsWithDelegateKernels`` (``core/subgraph.cc``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ..model.model import Node
from .graph import Graph
from .partition import Subset, partition

_MOST_WORK = 500_000
"""The largest number of nodes that all calls together may visit.

Calls beyond this limit are not simulated. The simulation assumes that they do not change the order of the plan.
"""

DELEGATE = 51
"""The builtin code of a delegate kernel in the graph."""


@dataclass(frozen=True, slots=True)
class ReplacingCall:
    """The counts that the runtime logs for one call: replaced nodes, nodes in the plan, and partitions."""

    replaced: int
    total: int
    partitions: int


def with_kernels(graph: Graph, subsets: Sequence[Subset], name: str) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """Replace each delegated partition by a kernel. Return the nodes of the graph and its execution plan."""
    nodes = list(graph.nodes)
    plan: list[int] = []
    for subset in subsets:
        if subset.is_delegated:
            plan.append(len(nodes))
            nodes.append(Node(len(nodes), name, DELEGATE, None, 1, subset.inputs, subset.outputs, (), None, None))
        else:
            plan += subset.nodes
    return tuple(nodes), tuple(plan)


@dataclass(frozen=True, slots=True)
class InCalls:
    """The result of several calls: the final partitions in run order, and the counts of each call."""

    subsets: tuple[Subset, ...]
    calls: tuple[ReplacingCall, ...]
    is_exact: bool
    """False if some calls were not simulated. The order of the plan may then differ from the real order."""


def partition_in_calls(graph: Graph, calls: Sequence[Collection[int]], name: str) -> InCalls:
    """Simulate calls that replace nodes by kernels, one call for each collection of nodes in ``calls``.

    ``name`` is the delegate's name. Raise PartitionError if the graph has a cycle.
    """
    now, made, reports = graph, dict[int, Subset](), list[ReplacingCall]()
    followed = max(1, _MOST_WORK // max(1, len(graph.execution_plan)))
    for nodes in calls[:followed]:
        subsets = partition(now, nodes)
        reports.append(ReplacingCall(len(nodes), len(now.execution_plan), len(subsets)))
        delegated = [subset for subset in subsets if subset.is_delegated]
        made.update(enumerate(delegated, len(now.nodes)))
        new_nodes, plan = with_kernels(now, subsets, name)
        now = replace(now, nodes=new_nodes, execution_plan=plan)
    taken = {node for nodes in calls[followed:] for node in nodes}
    groups: list[tuple[bool, list[int]]] = []
    for node in now.execution_plan:
        if node in made or node in taken:
            groups.append((True, list(made[node].nodes) if node in made else [node]))
        elif groups and not groups[-1][0]:
            groups[-1][1].append(node)
        else:
            groups.append((False, [node]))
    return InCalls(_with_borders(graph, groups), tuple(reports), not taken)


def _with_borders(graph: Graph, groups: Sequence[tuple[bool, list[int]]]) -> tuple[Subset, ...]:
    """Return groups of nodes as subsets, with the tensors at their boundaries."""
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
