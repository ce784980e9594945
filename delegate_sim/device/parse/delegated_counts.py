"""Parse the counts of delegated nodes that the runtime, delegates, tools and tables print."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...delegates.registry import CPU_LIBRARY_SPEAKER
from ...foundation.work_budget import spend_steps
from .delegate_identity import DISPATCH, UNNAMED_KERNEL, delegate_named, has_hidden_kernels, plain_name, statements_by
from .log_contents import Count, DeviceLog, Replacement
from .profiles.operator_tables import RUN_ORDER, SUMMARY, RunOrder, Summary
from .tables import Event


def is_kernel(op: str) -> bool:
    """Return whether the operator in a row is a delegate kernel. In old releases, all kernels have the same name."""
    return op == UNNAMED_KERNEL or delegate_named(op) is not None


def counts_of(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield the counts in the lines of the delegate with these names."""
    rows = [*[len(table.rows) for table in log.run_orders.values()], *[len(table.counts) for table in log.summaries.values()]]
    spend_steps(len(log.replacements) + len(log.statements) + sum(rows), "reading the log")
    for statement in statements_by(log, names, Event.OWN_COUNT):
        delegated, total, partitions = statement.numbers("delegated", "total", "partitions")
        left = total - delegated if delegated <= total else None
        yield Count(statement.line, "own", delegated, total, left, partitions if "partitions" in statement.values else None)
    for statement in statements_by(log, names, Event.SPLIT):
        taken, left = statement.numbers("taken", "left")
        yield Count(statement.line, "split", taken, taken + left, left)
    if any(DISPATCH in name for name in names):
        yield from log.plugin_counts
    for line, others in kernels_before(log):
        if plain_name(line.kernel) in names:
            rest = None if line.total is None or others is None else line.total - others - line.replaced
            rest = None if rest is None or rest < 0 else rest
            yield Count(line.line, "replacement", line.replaced, line.total, rest, line.partitions, None, line.subgraph)
    for statement in statements_by(log, names, Event.KERNELS):
        yield Count(statement.line, "kernels", kernels=int(statement.values["count"]))
    for applied in log.applications:
        if plain_name(applied.provider) in names:
            yield Count(applied.line, "application", kernels=applied.kernels)
    yield from npu_counts(log, names)
    yield from _table_counts(log, names)


@dataclass(slots=True)
class _Plan:
    kernel: str
    left: int
    """Number of the model's own nodes that no delegate has taken."""
    most: float


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
            plan = fitting[0]
            yield line, line.total - plan.left
            plan.kernel, plan.left, plan.most = line.kernel, plan.left - line.replaced, plan.most + partitions
        else:
            plans[line.subgraph] = None
            yield line, None


def npu_counts(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield the counts of Mesa's Teflon delegate. A table alone does not show what was compiled."""
    rows, graphs = log.statements_of(Event.NPU_ROW), log.statements_of(Event.NPU_GRAPH)
    if not graphs or not statements_by(log, names, Event.NPU_ROW, Event.NPU_GRAPH):
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
    ordered = ordered_tables(log)
    tables: list[tuple[str, int, Mapping[str, int], bool]]
    tables = [(RUN_ORDER, index, Counter([row.op for row in order.rows]), order.is_complete) for index, order in ordered.items()]
    tables += [(SUMMARY, index, own.counts, own.is_complete) for index, own in counted_tables(log).items()]
    for title, index, ops, is_complete in tables:
        kernels = sum([count for op, count in ops.items() if plain_name(op) in names])
        if kernels or is_hidden:
            rest = sum([count for op, count in ops.items() if not is_kernel(op)])
            yield Count(title, "table", on_cpu=rest, kernels=kernels or None, subgraph=index, is_complete=is_complete)


def ordered_tables(log: DeviceLog) -> dict[int, RunOrder]:
    """Return the tables in execution order, by subgraph. A table that lacks rows is left out if a summary lacks none."""
    whole = {index for index, summary in log.summaries.items() if summary.is_complete and not summary.lacks_rows}
    return {index: order for index, order in log.run_orders.items() if not order.lacks_rows or index not in whole}


def counted_tables(log: DeviceLog) -> dict[int, Summary]:
    """Return the tables of node types, by subgraph, for subgraphs without a table in execution order."""
    ordered = ordered_tables(log)
    return {index: summary for index, summary in log.summaries.items() if index not in ordered}
