"""Parse counts of delegated nodes, as printed by the runtime, delegates, tools and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .delegate_identity import DISPATCH, UNNAMED_KERNEL, delegate_named, plain_name
from .known_lines import COMPILED, KERNELS, OWN_COUNT, PLACED, SPLIT, Statement
from .log_contents import DeviceLog


@dataclass(frozen=True, slots=True)
class Count:
    """A count in a log: whose line it is, and the numbers in it; what the line leaves out is None."""

    line: str
    source: str
    """``replacement``, ``own``, ``split``, ``kernels``, ``application``, ``compiled``, ``table`` or ``executed``."""
    delegated: int | None = None
    total: int | None = None
    on_cpu: int | None = None
    partitions: int | None = None
    kernels: int | None = None
    subgraph: int | None = None
    is_complete: bool = True
    """True if the table that it is from is; if not, there are at least so many."""


def is_kernel(op: str) -> bool:
    """Return whether a row of a table is of a delegate's kernel, which old releases call the same for all delegates."""
    return op == UNNAMED_KERNEL or delegate_named(op) is not None


def counts_of(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield the counts in the lines that are of a delegate."""
    for each in log.of(OWN_COUNT):
        if plain_name(each.values["name"]) in names:
            delegated, total, partitions = (int(each.values[key]) for key in ("delegated", "total", "partitions"))
            yield Count(each.line, "own", delegated, total, total - delegated if delegated <= total else None, partitions)
    for each in log.of(SPLIT):
        if plain_name(each.values["name"]) in names:
            taken, left = int(each.values.get("taken", "0")), int(each.values["left"])
            yield Count(each.line, "split", taken, taken + left, left)
    yield from _placed(log, names)
    for each in log.of(COMPILED):
        if any(DISPATCH in name for name in names):
            yield compiled_count(each)
    for line in log.replacements:
        if plain_name(line.kernel) in names:
            rest = line.total - line.replaced if line.total is not None and line.replaced <= line.total else None
            yield Count(line.line, "replacement", line.replaced, line.total, rest, line.partitions, None, line.subgraph)
    for each in log.of(KERNELS):
        if plain_name(each.values["name"]) in names:
            yield Count(each.line, "kernels", kernels=int(each.values["count"]))
    for applied in log.applications:
        if plain_name(applied.provider) in names:
            yield Count(applied.line, "application", kernels=applied.kernels)
    yield from _table_counts(log, names)


def _placed(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield what a compiler for one accelerator says of where operations will run."""
    counts = {plain_name(each.values["name"]): each for each in log.of(PLACED)}
    taken = [each for name, each in counts.items() if name in names]
    left = [each for name, each in counts.items() if name not in names]
    if taken and left:
        delegated, on_cpu = int(taken[-1].values["count"]), int(left[-1].values["count"])
        yield Count(taken[-1].line, "split", delegated, delegated + on_cpu, on_cpu)


def _table_counts(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    for index, table in log.run_orders.items():
        kernels = sum([plain_name(row.op) in names for row in table.rows])
        if kernels:
            rest = sum([not is_kernel(row.op) for row in table.rows])
            yield Count("Run Order", "table", on_cpu=rest, kernels=kernels, subgraph=index, is_complete=table.is_complete)
    for index, summary in log.summaries.items():
        kernels = sum([count for op, count in summary.counts.items() if plain_name(op) in names])
        if kernels and index not in log.run_orders:
            rest = sum([count for op, count in summary.counts.items() if not is_kernel(op)])
            is_complete = summary.is_complete
            yield Count("Summary by node type", "table", on_cpu=rest, kernels=kernels, subgraph=index, is_complete=is_complete)


def compiled_count(each: Statement) -> Count:
    """Return what a line of a compiler plugin counts."""
    taken, total = int(each.values["taken"]), int(each.values["total"])
    partitions, subgraph = int(each.values["partitions"]), int(each.values["subgraph"])
    return Count(each.line, "compiled", taken, total, total - taken if taken <= total else None, partitions, None, subgraph)
