"""Calls that the NNAPI runtime rejects, turned into kernel failures with messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....graph.graph import Graph
from ....nnapi_runtime.refusal import Call
from ....refusal import Refusal, Stage
from ...options import OptionValues
from ..lowering.partition import LoweredPartition
from ..target import PREFIX

_FURTHER_SHOWN = 10
_OF_MODEL = frozenset({Call.IDENTIFY.short_name, Call.FINISH_MODEL.short_name, Call.FINISH_COMPILATION.short_name})
"""Calls that are about the whole model of a partition, not about a single node."""


def runtime_failure(
    graph: Graph, lowered: LoweredPartition, others: Sequence[LoweredPartition], options: OptionValues
) -> Refusal | None:
    """Return the kernel failure for the first rejected call of a partition, or None if no call was rejected.

    The failure also has lines about later rejections in this partition and in ``others``.
    """
    if not lowered.calls:
        return None
    calls = [call for partition in (lowered, *others) for call in _first_of_each_node(partition.calls)]
    return refused_call_failure(graph, calls[0], lowered, options, _further(calls[1:]))


def refused_call_failure(
    graph: Graph, call: Refusal, lowered: LoweredPartition, options: OptionValues, further: tuple[str, ...] = ()
) -> Refusal:
    """Return the kernel failure that a rejected call causes. ``further`` contains lines about later rejections."""
    from .refusal_kinds import change_for, refused_operand

    operand, tensor = refused_operand(call, graph, lowered)
    values = {
        **call.values,
        "android": options["nnapi_runtime"],
        "does": "cannot compile the partition" if call.stage is Stage.COMPILING else f"rejects {call.call}",
        "operation": f"{call.operation}: " if call.operation else "",
        "operand": operand,
    }
    below = replace(call, node=None) if call.call in _OF_MODEL else call
    return Refusal(
        PREFIX + call.code,
        "the NNAPI runtime of Android {android} {does}: {operation}{operand}: found {found}, needed {needed}",
        change_for(call),
        node=call.node,
        tensor=tensor,
        values=values,
        further=further,
        below=below,
    )


def _first_of_each_node(refused: Sequence[Refusal]) -> list[Refusal]:
    """Return the first rejected call of each node, because later rejections may be consequences of the first."""
    first: dict[int | None, Refusal] = {}
    for call in refused:
        first.setdefault(call.node, call)
    return list(first.values())


def _further(calls: Sequence[Refusal]) -> tuple[str, ...]:
    groups: dict[tuple[str, str], list[int | None]] = {}
    for call in calls:
        groups.setdefault((call.operation or call.call, call.message), []).append(call.node)
    lines = [
        f"after this call is fixed, the NNAPI runtime would still reject {operation} at {_nodes(nodes)}: {message}"
        for (operation, message), nodes in groups.items()
    ]
    hidden = len(lines) - _FURTHER_SHOWN
    more = (
        (f"after this call is fixed, the NNAPI runtime would still reject {hidden} further kinds of calls",) if hidden > 0 else ()
    )
    return (*lines[:_FURTHER_SHOWN], *more)


def _nodes(indices: Sequence[int | None]) -> str:
    shown = ", ".join(map(str, indices[:_FURTHER_SHOWN]))
    more = f" and {len(indices) - _FURTHER_SHOWN:,} more" if len(indices) > _FURTHER_SHOWN else ""
    return f"node {shown}" if len(indices) == 1 else f"{len(indices):,} nodes ({shown}{more})"
