"""Match the operators inside of delegate kernels with nodes."""

from __future__ import annotations

from collections.abc import Sequence

from ..delegates.registry import find_delegate
from ..device.parse.profiles.operator_tables import Row
from ..hypothetical.hypothetical_changes import NodeKey
from .measured import InnerOperator
from .plan import PlannedStep, TimedPlan

INNER = "Delegate/"
"""Beginning of the names of rows that are part of a delegate kernel."""


def inner_operators(rows: Sequence[Row], plan: TimedPlan) -> tuple[InnerOperator, ...]:
    """Return the operators inside of kernels. The node of an operator is known only if the plan has one kernel.

    The profiler adds up the times of operators with the same name and number in different kernels. With several kernels, no node
    is therefore known.
    """
    timed = [(row.outputs.removeprefix(INNER), row.time.ms) for row in rows if row.time is not None]
    kernels = [step for steps in plan.steps for step in steps if step.is_kernel]
    nodes = _nodes([name for name, _ in timed], kernels[0], plan) if len(kernels) == 1 else {}
    return tuple([InnerOperator(name, ms, nodes.get(number)) for number, (name, ms) in enumerate(timed)])


def _nodes(names: Sequence[str], kernel: PlannedStep, plan: TimedPlan) -> dict[int, NodeKey]:
    """Return the node of each operator, by number. If a type of operator has as many rows as nodes, they have the same order."""
    graph, delegate = plan.graphs[kernel.subgraph], find_delegate(kernel.op)
    numbers: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        if op := delegate.profiled_operator(name):
            numbers.setdefault(op, []).append(number)
    matched: dict[int, NodeKey] = {}
    for op, own in numbers.items():
        nodes = [node for node in kernel.nodes if graph.nodes[node].op == op]
        if len(nodes) == len(own):
            matched |= {number: NodeKey(kernel.subgraph, node) for number, node in zip(own, nodes, strict=True)}
    return matched
