"""Calls that the NNAPI runtime rejects, turned into kernel failures with messages."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph.graph import Graph
from ....nnapi_runtime.refusal import Call
from ...decision import KernelFailure
from ...options import OptionValues
from ..kinds import PREFIX
from ..lowering.call_sites import RefusedCall
from ..lowering.partition import LoweredPartition

_FURTHER_SHOWN = 10


def runtime_failure(
    graph: Graph, lowered: LoweredPartition, others: Sequence[LoweredPartition], options: OptionValues
) -> KernelFailure | None:
    """Return the kernel failure for the first rejected call of a partition, or None if no call was rejected.

    The failure also has lines about later rejections in this partition and in ``others``.
    """
    if not lowered.calls:
        return None
    calls = [call for partition in (lowered, *others) for call in _first_of_each_node(partition.calls)]
    return refused_call_failure(graph, calls[0], lowered, options, _further(calls[1:]))


def refused_call_failure(
    graph: Graph, call: RefusedCall, lowered: LoweredPartition, options: OptionValues, further: tuple[str, ...] = ()
) -> KernelFailure:
    """Return the kernel failure that a rejected call causes. ``further`` contains lines about later rejections."""
    from ...stage_behind import StageRefusal  # most models have no refusal
    from .refusal_advice import change_for, refused_operand

    violation = call.refusal.violation
    operand, tensor = refused_operand(call, graph, lowered)
    what = f"{call.operation}: " if call.operation else ""
    is_compiled = call.refusal.call is Call.FINISH_COMPILATION
    does = "cannot compile the partition" if is_compiled else f"rejects {call.call}"
    message = (
        f"the NNAPI runtime of Android {options['nnapi_runtime']} {does}: {what}{operand}: found {violation.found}, "
        f"needed {violation.needed}"
    )
    is_of_node = call.refusal.call not in (Call.IDENTIFY, Call.FINISH_MODEL, Call.FINISH_COMPILATION)
    stage = StageRefusal(
        call.call, call.operation, violation.subject, violation.found, violation.needed, call.error_line, further, is_of_node
    )
    index = None if tensor is None else tensor.index
    return KernelFailure(call.node, index, PREFIX + call.refusal.code, message, change_for(call), stage=stage)


def _first_of_each_node(refused: Sequence[RefusedCall]) -> list[RefusedCall]:
    """Return the first rejected call of each node, because later rejections may be consequences of the first."""
    first: dict[int, RefusedCall] = {}
    for call in refused:
        first.setdefault(call.node, call)
    return list(first.values())


def _further(calls: Sequence[RefusedCall]) -> tuple[str, ...]:
    """Return lines about these rejected calls. All calls that were rejected for the same reason share one line."""
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for call in calls:
        violation = call.refusal.violation
        key = (call.operation or call.call, violation.subject, violation.found, violation.needed)
        groups.setdefault(key, []).append(call.node)
    lines = [
        f"after this call is fixed, the NNAPI runtime would still reject {operation} at {_nodes(nodes)}: {subject}: found "
        f"{value}, needed {needed}"
        for (operation, subject, value, needed), nodes in groups.items()
    ]
    hidden = len(lines) - _FURTHER_SHOWN
    more = (
        (f"after this call is fixed, the NNAPI runtime would still reject {hidden} further kinds of calls",) if hidden > 0 else ()
    )
    return (*lines[:_FURTHER_SHOWN], *more)


def _nodes(indices: Sequence[int]) -> str:
    shown = ", ".join(map(str, indices[:_FURTHER_SHOWN]))
    more = f" and {len(indices) - _FURTHER_SHOWN:,} more" if len(indices) > _FURTHER_SHOWN else ""
    return f"node {shown}" if len(indices) == 1 else f"{len(indices):,} nodes ({shown}{more})"
