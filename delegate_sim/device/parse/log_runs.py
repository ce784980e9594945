"""Split a log into runs, one for each model that the application loads, and read the counts of delegated nodes in a run."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, TypeVar

from ...delegates.registry import CPU_LIBRARY_SPEAKER
from ...foundation.columns import Declared
from ...foundation.work_budget import spend_steps
from .delegate_identity import DISPATCH, delegate_named, has_hidden_kernels, is_kernel, plain_name, statements_by
from .known_lines import Statement
from .log_contents import Count, DeviceLog, LogError, Replacement
from .operator_tables import RUN_ORDER, SUMMARY, RunOrder, Summary
from .tables import ERRORS, FORMS, Event, kinds_with

_BEFORE, _OF_PROCESS, _OF_START = kinds_with("is_before"), kinds_with("is_of_process"), kinds_with("is_of_start")
_PLACE = attrgetter("place")
_Items = TypeVar("_Items", list[Any], tuple[int, ...])


def separate_runs(logs: Sequence[DeviceLog], subgraphs: int = 1) -> tuple[DeviceLog, ...]:
    """Split each log that has too many lines about replaced nodes for one run of a model with ``subgraphs`` subgraphs.

    A delegate prints at most one such line for each subgraph of a run. A run begins with the lines before it.
    """
    return tuple(part for log in logs for part in _parts(log, max(subgraphs, 1)))


def chosen_run(logs: Sequence[DeviceLog], number: int | None) -> DeviceLog:
    """Return a run by its number, counted from 1, or the last run. Raises LogError if there is no such run."""
    if number is None:
        return logs[-1]
    if not 1 <= number <= len(logs):
        raise LogError(f"the log has {len(logs)} {'run' if len(logs) == 1 else 'runs'}, so there is no run {number}")
    return logs[number - 1]


def run_note(count: int, number: int | None) -> str:
    """Return a note that names the selected run, or "" if the log has only one run."""
    if count < 2:
        return ""
    chosen = f"run {number}" if number is not None else "the last one"
    return f"the log has lines of {count} runs or models; {chosen} is used (--run N selects another)"


def beginning(log: DeviceLog, replacement: Replacement) -> int:
    """Return the number of the first line in the run of a replacement."""
    ends = [other.place for other in _within(log.replacements, 0, replacement.place, _PLACE)[-1:]]
    for statement in log.statements_of(*ERRORS, Event.RESTORED):
        ends += _within(statement.places, 0, replacement.place)[-1:]
    first = max(ends, default=0) + 1
    delegate = delegate_named(replacement.kernel)
    own = list(log.statements_of(*_BEFORE))
    if delegate is not None:
        own += [made for made in log.statements_of(Event.CREATED) if delegate_named(made.values["name"]) is delegate]
    starts = [place for statement in own for place in _within(statement.places, first, replacement.place)[:1]]
    return min(starts, default=replacement.place)


def split_at(log: DeviceLog, place: int) -> tuple[DeviceLog, DeviceLog]:
    """Split a log before a line. Lines of the process go to both parts, data without a line to the second."""
    spend_steps(len(log.statements), "reading the log")
    start = min([place, *[replacement.place for replacement in log.replacements[:1]]])
    names = ("tensorflow_version", "is_old", "edge_tpu", "chips")
    before, after = DeviceLog(**{name: getattr(log, name) for name in names}), replace(log)
    for part, first, end, shared in ((before, 0, place, 0), (after, place, None, start)):
        part.replacements = _within(log.replacements, first, end, _PLACE)
        part.applications = _within(log.applications, first, end, _PLACE)
        part.statements = tuple(_between(log, first, end, shared))
    return before, after


def _parts(log: DeviceLog, subgraphs: int) -> list[DeviceLog]:
    groups: list[list[Replacement]] = [[]]
    parts = []
    for replacement in log.replacements:
        spend_steps(len(groups[-1]) // 8 + 1, "reading the log")
        same = [other for other in groups[-1] if other.kernel == replacement.kernel and other.subgraph is None]
        if replacement.subgraph is None and len(same) >= subgraphs:
            groups.append([])
            part, log = split_at(log, beginning(log, replacement))
            parts.append(part)
        groups[-1].append(replacement)
    return [*parts, log]


def _between(log: DeviceLog, first: int, end: int | None, start: int) -> Iterator[Statement]:
    """Yield the statements in a range of lines, with those that hold for the process or, before ``start``, for all runs."""
    for statement in log.statements:
        places = _within(statement.places, first, end)
        is_shared = statement.kind in _OF_PROCESS or (statement.kind in _OF_START and bool(_within(statement.places, 0, start)))
        if places and len(places) < len(statement.places):
            yield replace(statement, places=places, times=len(places))
        elif places:
            yield statement
        elif is_shared:
            yield replace(statement, places=statement.places[-1:])  # all runs of a process share it


def _within(items: _Items, first: int, end: int | None, place: Callable[[Any], int] = int) -> _Items:
    """Return the items in a range of lines. The items are in the order of their lines; ``place`` returns the line of an item."""
    start = bisect_left(items, first, key=place)
    return items[start : None if end is None else bisect_left(items, end, start, key=place)]


def counts_of(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield the counts in the lines of the delegate with these names."""
    spend_steps(len(log.replacements) + len(log.statements) + len(log.table_operators), "reading the log")
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
    yield from _compiler_counts(log, names)
    yield from _table_counts(log, names)


@dataclass(slots=True)
class _Plan:
    kernel: str
    left: int
    """Number of the model's own nodes that no delegate has taken."""
    most: float


_MOST_PLANS = 64


def kernels_before(log: DeviceLog) -> Iterator[tuple[Replacement, int | None]]:
    """Yield each line about replaced nodes, with the number of earlier delegates' kernels among its nodes, or None.

    A line that names no subgraph belongs to the line of another delegate that left as many nodes.
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
            kernels = _kernels_of_own_counts(log, line)
            known.append(_Plan(line.kernel, line.total - kernels - line.replaced, partitions + kernels))
            yield line, kernels
        elif len(fitting) == 1:
            plan = fitting[0]
            yield line, line.total - plan.left
            plan.kernel, plan.left, plan.most = line.kernel, plan.left - line.replaced, plan.most + partitions
        else:
            plans[line.subgraph] = None
            yield line, None


def _kernels_of_own_counts(log: DeviceLog, line: Replacement) -> int:
    """Return the number of kernels of an earlier delegate that printed only its own counts, if these lead to the line's total."""
    kernels = {plain_name(replacement.kernel) for replacement in log.replacements}
    for own in log.statements_of(Event.OWN_COUNT):
        delegated, total, partitions = own.numbers("delegated", "total", "partitions")
        is_earlier = min(own.places, default=0) < line.place and plain_name(own.values["name"]) not in kernels
        if is_earlier and partitions and line.total == total - delegated + partitions:
            return partitions
    return 0


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


def _compiler_counts(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    """Yield the counts in the summary of Arm's compiler for the Ethos-U, which has a line for each processor."""
    lines = statements_by(log, names, Event.COMPILER_SUMMARY)
    if {name for line in lines for name in line.values} >= {"taken", "left"}:
        taken, left = (sum(numbers) for numbers in zip(*[line.numbers("taken", "left") for line in lines], strict=True))
        yield Count(lines[0].line, "vela", taken, taken + left, left)


def _table_counts(log: DeviceLog, names: set[str]) -> Iterator[Count]:
    is_hidden = plain_name(CPU_LIBRARY_SPEAKER) in names and has_hidden_kernels(log)
    tables: list[tuple[str, int, Mapping[str, int], bool]]
    orders, summaries = ordered_tables(log).items(), counted_tables(log).items()
    tables = [(RUN_ORDER, index, Counter([row.op for row in order.rows]), order.is_complete) for index, order in orders]
    tables += [(SUMMARY, index, summary.counts, summary.is_complete) for index, summary in summaries]
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


YES, NO, NOT_SHOWN = "yes", "no", "not-shown"
_NPU = "NPU"
_ERRORS = (Event.FAILURE, Event.OTHER_ERROR, Event.PLAIN_ERROR, Event.WARNED, Event.VENDOR_ERROR)
_LOADING = (*_ERRORS, Event.CUSTOM_ERROR, Event.NODE_ERROR)


@dataclass(frozen=True, slots=True)
class NpuStages(Declared):
    """The stages that a model passed, as a log shows them: ``yes``, ``no`` or ``not-shown``.

    ``selected`` and ``nodes`` are sums of the plugins' lines, or None. ``stop`` is the line of the first failed stage, or "".
    """

    selected: int | None
    nodes: int | None
    compiled: str
    loaded: str
    used: str
    stop: str


def npu_stages(log: DeviceLog) -> NpuStages | None:
    """Return the stages that a log shows, or None if the log has nothing about compiled parts of a model."""
    lines = log.statements_of(Event.COMPILED)
    kernels = [replacement for replacement in log.replacements if DISPATCH in plain_name(replacement.kernel)]
    reports = log.statements_of(Event.COMPILED_PART, Event.PLUGINS_APPLIED)
    failures = list(_compiler_errors(log))
    sources = [(error, error.values.get("source", "")) for error in log.statements_of(*_LOADING)]
    loading = [(error, source) for error, source in sources if not FORMS["compiler-file"].search(source)]
    refusals = [error for error, source in loading if DISPATCH in plain_name(source) or FORMS["loader-error"].search(error.line)]
    if not (lines or kernels or refusals or reports or failures):
        return None
    if not kernels:
        # Without an attempt to use the NPU, a missing NPU accelerator says nothing.
        refusals += [error for error in log.statements_of(Event.NOT_REGISTERED) if error.values.get("name") == _NPU]
    selected = sum([line.numbers("taken")[0] for line in lines]) if lines else None
    nodes = sum([line.numbers("total")[0] for line in lines]) if lines else None
    has_parts = any(report.kind == Event.COMPILED_PART or report.values["number"] != "0" for report in reports)
    compiled = NO if failures or reports or selected == 0 else NOT_SHOWN
    compiled = YES if kernels or has_parts else compiled
    loaded = NO if refusals or compiled == NO else YES if any(kernel.replaced for kernel in kernels) else NOT_SHOWN
    has_run = not log.times.is_empty or bool(log.statements_of(Event.MEASURED))
    used = NO if loaded == NO else YES if loaded == YES and has_run else NOT_SHOWN
    stops = failures if compiled == NO else refusals if loaded == NO else []
    return NpuStages(selected, nodes, compiled, loaded, used, stops[0].line if stops else "")


def _compiler_errors(log: DeviceLog) -> Iterator[Statement]:
    """Yield the errors of a vendor's compiler: those that name it, and those of its files after nodes were selected."""
    first = min(log.places(Event.COMPILED), default=math.inf)
    for statement in log.statements_of(*_ERRORS):
        is_later = max(statement.places, default=0) > first
        source = statement.values.get("source", "")
        if FORMS["compiler-error"].search(statement.line) or FORMS["compiler-file" if is_later else "plugin-file"].search(source):
            yield statement
