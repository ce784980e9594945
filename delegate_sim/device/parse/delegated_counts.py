"""Parse the counts of delegated nodes that the runtime, delegates, tools and tables print."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ...delegates.registry import CPU_LIBRARY_SPEAKER
from ...foundation.work_budget import spend_steps
from .delegate_identity import DISPATCH, UNNAMED_KERNEL, delegate_named, has_hidden_kernels, plain_name
from .kinds import Event
from .log_contents import Count, DeviceLog, Replacement
from .profiles.operator_tables import RUN_ORDER, SUMMARY, RunOrder, Summary


def is_kernel(op: str) -> bool:
    """Return whether the operator in a row is a delegate kernel. In old releases, all kernels have the same name."""
    return op == UNNAMED_KERNEL or delegate_named(op) is not None


def counts_of(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield the counts in the lines of the delegate with these names."""
    rows = [*[len(table.rows) for table in log.run_orders.values()], *[len(table.counts) for table in log.summaries.values()]]
    spend_steps(len(log.replacements) + len(log.statements) + sum(rows), "reading the log")
    for statement in log.statements_of(Event.OWN_COUNT):
        if plain_name(statement.values["name"]) in names:
            delegated, total = (int(statement.values[key]) for key in ("delegated", "total"))
            partitions = int(statement.values["partitions"]) if "partitions" in statement.values else None
            yield Count(statement.line, "own", delegated, total, total - delegated if delegated <= total else None, partitions)
    for statement in log.statements_of(Event.SPLIT):
        if plain_name(statement.values["name"]) in names:
            counts, left = int(statement.values.get("taken", "0")), int(statement.values["left"])
            yield Count(statement.line, "split", counts, counts + left, left)
    if any(DISPATCH in name for name in names):
        yield from log.plugin_counts
    for line, others in kernels_before(log):
        if plain_name(line.kernel) in names:
            rest = None if line.total is None or others is None else line.total - others - line.replaced
            rest = None if rest is None or rest < 0 else rest
            yield Count(line.line, "replacement", line.replaced, line.total, rest, line.partitions, None, line.subgraph)
    for statement in log.statements_of(Event.KERNELS):
        if plain_name(statement.values["name"]) in names:
            yield Count(statement.line, "kernels", kernels=int(statement.values["count"]))
    for applied in log.applications:
        if plain_name(applied.provider) in names:
            yield Count(applied.line, "application", kernels=applied.kernels)
    yield from npu_counts(log, names)
    yield from _table_counts(log, names)


@dataclass(slots=True)
class _Plan:
    kernel: str
    """The last delegate's kernel."""
    left: int
    """Number of the model's own nodes that no delegate has taken."""
    most: float
    """Largest possible number of kernels."""


_MOST_PLANS = 64
"""Largest number of subgraphs without a number that are compared with a line."""


def kernels_before(log: DeviceLog) -> Iterator[tuple[Replacement, int | None]]:
    """Yield each line about replaced nodes, with the number of kernels of earlier delegates among the nodes that it counts.

    The number is None if the lines do not show it. Lines may not name the subgraph. Then a delegate's line belongs to a line of
    another delegate that left as many nodes.
    """
    restored = deque(
        sorted([(place, "old" in line.values) for line in log.statements_of(Event.RESTORED) for place in line.places])
    )
    plans: dict[int | None, list[_Plan] | None] = {}
    for line in log.replacements:
        while restored and restored[0][0] < line.place:
            _, keeps_some = restored.popleft()  # the oldest releases keep the delegates before the one that failed
            plans = dict.fromkeys(plans) if keeps_some else {}
        known = plans.setdefault(line.subgraph, [])
        partitions = math.inf if line.partitions is None else line.partitions
        if known is None or line.total is None or len(known) > _MOST_PLANS:
            plans[line.subgraph] = None
            yield line, None
            continue
        others = [plan for plan in known if plan.kernel != line.kernel]
        fitting = [plan for plan in others if 0 <= line.total - plan.left <= plan.most]
        if not others:
            known.append(_Plan(line.kernel, line.total - line.replaced, partitions))
            yield line, 0
        elif len(fitting) == 1:
            yield line, line.total - fitting[0].left
            fitting[0].kernel = line.kernel
            fitting[0].left -= line.replaced
            fitting[0].most += partitions
        else:
            plans[line.subgraph] = None
            yield line, None


def npu_counts(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield the counts of Mesa's Teflon delegate. A table alone does not show what was compiled."""
    rows, graphs = log.statements_of(Event.NPU_ROW), log.statements_of(Event.NPU_GRAPH)
    if not graphs or not any(plain_name(statement.values["name"]) in names for statement in (*rows, *graphs)):
        return
    delegated = sum([int(graph.values.get("operations") or graph.values["more"]) * graph.times for graph in graphs])
    supported = [row for row in rows if row.values["support"] == "supported"]
    is_complete = [int(row.values["index"]) for row in rows] == list(range(len(rows))) and len(supported) == delegated
    total = len(rows) if is_complete else None
    kernels = sum([graph.times for graph in graphs])
    line = (*graphs, *rows)[0].line
    yield Count(line, "own", delegated, total, None if total is None else total - delegated, None, kernels)


def _table_counts(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    is_hidden = plain_name(CPU_LIBRARY_SPEAKER) in names and has_hidden_kernels(log)
    for index, table in ordered_tables(log).items():
        kernels = sum([plain_name(row.op) in names for row in table.rows])
        if kernels or is_hidden:
            rest = sum([not is_kernel(row.op) for row in table.rows])
            yield Count(RUN_ORDER, "table", on_cpu=rest, kernels=kernels or None, subgraph=index, is_complete=table.is_complete)
    for index, summary in counted_tables(log).items():
        kernels = sum([count for op, count in summary.counts.items() if plain_name(op) in names])
        if kernels or is_hidden:
            rest = sum([count for op, count in summary.counts.items() if not is_kernel(op)])
            is_complete = summary.is_complete
            yield Count(SUMMARY, "table", on_cpu=rest, kernels=kernels or None, subgraph=index, is_complete=is_complete)


def ordered_tables(log: DeviceLog) -> dict[int, RunOrder]:
    """Return the tables in execution order, by subgraph. A table that lacks rows is left out if a summary lacks none."""
    return {
        index: order
        for index, order in log.run_orders.items()
        if not order.lacks_rows or index not in log.summaries or not _is_whole(log.summaries[index])
    }


def counted_tables(log: DeviceLog) -> dict[int, Summary]:
    """Return the tables of node types, by subgraph, for subgraphs without a table in execution order."""
    ordered = ordered_tables(log)
    return {index: summary for index, summary in log.summaries.items() if index not in ordered}


def _is_whole(summary: Summary) -> bool:
    return summary.is_complete and not summary.lacks_rows
