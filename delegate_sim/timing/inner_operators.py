"""Match the operators inside delegate kernels with nodes of the model."""

from __future__ import annotations

from collections.abc import Sequence

from ..delegates.registry import find_delegate
from ..device.parse.profiles.operator_tables import Row
from ..hypothetical.hypothetical_changes import NodeKey
from .measured import InnerOperator
from .plan import PlannedStep, TimedPlan

INNER = "Delegate/"
"""The name of a row begins with this text if the row is part of a delegate kernel."""


def inner_operators(rows: Sequence[Row], plan: TimedPlan) -> tuple[InnerOperator, ...]:
    """Return the operators inside kernels.

    The node of an operator is known only if one kernel has all nodes of the operator's type. The profiler adds the times of
    operators in several kernels if the operators have the same name and number.
    """
    timed = [(row.outputs.removeprefix(INNER), row.time.ms) for row in rows if row.time is not None]
    nodes = _nodes([name for name, _ in timed], plan)
    return tuple([InnerOperator(name, ms, nodes.get(number)) for number, (name, ms) in enumerate(timed)])


def _nodes(names: Sequence[str], plan: TimedPlan) -> dict[int, NodeKey]:
    """Return the node of each operator, keyed by number of the operator.

    If a type has as many rows as nodes, rows and nodes are in the same order.
    """
    kernels = [step for steps in plan.steps for step in steps if step.is_kernel]
    matched: dict[int, NodeKey] = {}
    for delegate in dict.fromkeys([kernel.op for kernel in kernels]):
        numbers: dict[str, list[int]] = {}
        for number, name in enumerate(names):
            if op := find_delegate(delegate).profiled_operator(name):
                numbers.setdefault(op, []).append(number)
        for op, own in numbers.items():
            groups = [nodes for kernel in kernels if kernel.op == delegate and (nodes := _of_type(kernel, op, plan))]
            if len(groups) == 1 and len(groups[0]) == len(own):
                matched |= dict(zip(own, groups[0], strict=True))
    return matched


def _of_type(kernel: PlannedStep, op: str, plan: TimedPlan) -> list[NodeKey]:
    graph = plan.graphs[kernel.subgraph]
    return [NodeKey(kernel.subgraph, node) for node in kernel.nodes if graph.nodes[node].op == op]
