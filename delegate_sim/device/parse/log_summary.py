"""Summarize a log without its model: delegates, their outcomes, all counts, and the errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from ...delegates.base import Delegate
from ...model.schema import operator_name
from ..compare.runtime_log_check import compilation_text
from .applied_target import delegate_in, is_switched_on, may_be_older, releases_of
from .delegate_identity import (
    DISPATCH,
    UNNAMED_KERNEL,
    asked_accelerators,
    delegate_named,
    is_of,
    library_of,
    names_of,
    other_name,
    others_in,
    plain_name,
)
from .delegated_counts import Count, compiled_count, counts_of, is_kernel
from .error_meanings import ExplainedError, explained_errors
from .known_lines import (
    API_ERROR,
    APPLIED,
    BENCHMARK_FAILED,
    BUILTIN_ERROR,
    CHOICE,
    COMPILED,
    CUSTOM_ERROR,
    DRIVER_REFUSAL,
    EXECUTED,
    FAILURE,
    FINISHED,
    FLEX_ERROR,
    INTERFACE,
    KERNEL_ERROR,
    LIBRARY_ERROR,
    LISTED_REFUSALS,
    LITERT,
    LOAD_ERROR,
    MEASURED,
    NODE_ERROR,
    NOT_APPLIED,
    OPERATOR_REFUSED,
    PREPARATION_ERROR,
    REGISTERED,
    RUNTIME,
    RUNTIME_ERROR,
    SAID,
    SKIPPED,
    VENDOR,
)
from .log_contents import DeviceLog

WHOLE, PART, NONE, FAILED, NOT_CREATED, NOT_LOADED, NOT_SHOWN, APPLIED_TO, MADE, REQUESTED, UNKNOWN = (
    "whole", "part", "none", "failed", "not-created", "not-loaded", "not-shown", "applied", "created", "requested", "unknown",
)  # fmt: skip
"""What became of a delegate. ``not-loaded``: the runtime could not load or prepare the model, whatever is applied.
``not-shown``: the model ran to the end of the benchmark, without a line of any delegate. The last three: it was made, it was
asked for, and the log does not tell.
"""


_FATAL = re.compile(r"initiali[sz]e|create|load|prepare|execute|invoke|modify|compile|No usable")
"""What an error of LiteRT 2 has failed at if no node can run; it goes on after others, such as hooks that it does not get."""


@dataclass(frozen=True, slots=True)
class LogDelegate:
    """A delegate in a log. ``name`` is that of the simulation, empty if there is none; ``title`` says what it is."""

    name: str
    title: str
    outcome: str
    counts: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What one run in a log says."""

    delegate: LogDelegate
    others: tuple[LogDelegate, ...]
    """Further delegates, such as the one that the runtime applies to what the first leaves."""
    counts: tuple[Count, ...]
    """Counts that are of no delegate."""
    operators: tuple[tuple[str, int], ...]
    """Number of nodes of each operator a table lists."""
    releases: tuple[str, ...]
    """The releases that may have printed the log; empty if nothing in it tells."""
    may_be_older: bool
    is_old: bool
    """True if it is certain that an older one did."""
    version: str
    """The release that the log names; empty if it names none."""
    refusals: tuple[tuple[str, str, int], ...]
    """Operators that are refused, each with the reason, which may be empty, and how often."""
    errors: tuple[ExplainedError, ...]
    chosen_devices: tuple[tuple[str, int], ...]
    """The devices that the runtime behind the delegate chose, and for how many operations."""
    compiled: tuple[str, ...]
    """Each model that this runtime compiled, in words."""
    accelerators: tuple[str, ...]
    """The accelerators that LiteRT 2 registered."""
    parts: tuple[tuple[str, int], ...]
    """Which parts of the system printed lines that tell nothing about a delegate's outcome, and how many."""
    line_count: int
    unused: tuple[str, ...]
    unused_count: int
    is_cut: bool
    """True if the log ends before it says what became of the delegate."""

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {
            **asdict(self),
            "delegate": _entry(self.delegate),
            "others": [_entry(each) for each in self.others],
            "counts": [asdict(each) for each in self.counts],
            "errors": [asdict(each) for each in self.errors],
            "refusals": [{"op": op, "reason": reason, "times": times} for op, reason, times in self.refusals],
            "operators": dict(self.operators),
            "chosen_devices": dict(self.chosen_devices),
            "parts": dict(self.parts),
        }


def summary_of(log: DeviceLog) -> LogSummary:
    """Return what one run in a log says by itself."""
    delegate = delegate_in(log)
    own = _of_delegate(log, delegate) if delegate is not None else _of_other(log)
    others = tuple(_other_delegates(log, delegate, own))
    has_wording = bool(log.replacements or log.tensorflow_version)
    return LogSummary(
        own,
        others,
        tuple(_general_counts(log, own)),
        tuple(_operators(log)),
        tuple(str(release) for release in releases_of(log, None, [])) if has_wording and not log.is_old else (),
        may_be_older(log),
        log.is_old,
        log.tensorflow_version or "",
        tuple(_refusals(log)),
        explained_errors(log),
        tuple(chosen_devices(log)),
        tuple(map(compilation_text, log.runtime.compilations)),
        tuple(dict.fromkeys(name for each in log.of(REGISTERED) for name in each.values["name"].split(", "))),
        tuple(_parts(log)),
        log.line_count,
        log.unused,
        log.unused_count,
        own.outcome in (MADE, REQUESTED, UNKNOWN) and not log.of(MEASURED),
    )


def _of_delegate(log: DeviceLog, delegate: Delegate) -> LogDelegate:
    names = names_of(log, delegate)
    if is_switched_on(delegate, log):
        names |= {plain_name(UNNAMED_KERNEL)}
    counts = tuple(counts_of(log, names))
    outcome = _failure(log, names) or _outcome(log, counts) or _start(log, names)
    if outcome == UNKNOWN and is_switched_on(delegate, log):
        outcome = REQUESTED
    shown = library_of(log) if delegate.log.libraries else ""
    if not shown:
        # Apple's kernels, for one, are of the same delegate.
        shown = next((each.kernel for each in log.replacements if is_of(delegate, each.kernel)), "")
        shown = "" if shown == delegate.kernel_name else shown
    title = f"{delegate.name} ({shown})" if shown else delegate.name
    return LogDelegate(delegate.name, title, outcome, counts)


def _of_other(log: DeviceLog) -> LogDelegate:
    """Return the delegate of a log that is not one that can be simulated."""
    others = others_in(log)
    kernels = [each.kernel for each in log.replacements if _is_unknown(each.kernel)]
    name = kernels[0] if kernels else others[0] if others else library_of(log) or ", ".join(asked_accelerators(log))
    if not name and UNNAMED_KERNEL in _table_names(log):
        name = UNNAMED_KERNEL
        kernels = [name]
    known = other_name(name)
    # What is known of the same delegate may be called otherwise in each line.
    same = [each for each in others if known and other_name(each) == known]
    names = {plain_name(each) for each in (name, *same, *(["external"] if name else []))}
    counts = tuple(counts_of(log, names))
    outcome = _failure(log, names) or _outcome(log, counts) or _start(log, names)
    if outcome == UNKNOWN and name:
        outcome = REQUESTED
    if outcome == UNKNOWN and log.of(BUILTIN_ERROR, CUSTOM_ERROR, LOAD_ERROR, NODE_ERROR):
        outcome = NOT_LOADED
    if outcome == UNKNOWN and log.of(MEASURED) and not explained_errors(log):
        outcome = NOT_SHOWN
    return LogDelegate("", _title(name), outcome, counts)


def _title(name: str) -> str:
    """Return what a delegate that is not simulated is called."""
    known = other_name(name)
    return f"{known} ({name})" if known else name


def _table_names(log: DeviceLog) -> list[str]:
    """Return the operators and kernels that the tables list."""
    rows = [row.op for table in log.run_orders.values() for row in table.rows]
    return [*rows, *[op for summary in log.summaries.values() for op in summary.counts]]


def _is_unknown(kernel: str) -> bool:
    return delegate_named(kernel) is None


def _other_delegates(log: DeviceLog, delegate: Delegate | None, own: LogDelegate) -> Iterator[LogDelegate]:
    """Yield what became of every further delegate that a kernel or a line on its creation names."""
    seen = {own.name}
    kernels = [*[each.kernel for each in log.replacements], *_table_names(log)]
    for name in dict.fromkeys([*kernels, *log.created]):
        other = delegate_named(name)
        if other is None or other.name in seen or (delegate is not None and is_of(delegate, name)):
            continue
        seen.add(other.name)
        names = {plain_name(each) for each in other.kernel_names}
        counts = tuple(counts_of(log, names))
        yield LogDelegate(other.name, other.name, _outcome(log, counts) or MADE, counts)
    counted = {count.line for count in own.counts}
    for name in others_in(log):
        counts = tuple([count for count in counts_of(log, {plain_name(name)}) if count.line not in counted])
        counted |= {count.line for count in counts}
        if counts:
            yield LogDelegate("", _title(name), _outcome(log, counts) or UNKNOWN, counts)


def _general_counts(log: DeviceLog, own: LogDelegate) -> Iterator[Count]:
    """Yield the counts of the log that are of no delegate, those of a compiler plugin whose code nothing runs among them."""
    if not any(each.source == "compiled" for each in own.counts):
        yield from map(compiled_count, log.of(COMPILED))
    for each in log.of(EXECUTED):
        yield Count(each.line, "executed", total=int(each.values["count"]))


def _failure(log: DeviceLog, names: set[str]) -> str:
    """Return whether the delegate could not be applied; empty if nothing says so."""
    applied = [each for each in log.applications if plain_name(each.provider) in names]
    if applied:
        return FAILED if applied[-1].outcome == "failed" else ""
    if log.is_restored or log.dynamic_tensor is not None or log.of(NOT_APPLIED):
        return FAILED
    if any(plain_name(each.values["op"]) in names for each in log.of(NODE_ERROR)):
        return FAILED
    if any(plain_name(each.values.get("name", "")) in names for each in log.of(API_ERROR)):
        return FAILED
    if log.of(KERNEL_ERROR, PREPARATION_ERROR, FLEX_ERROR) or _has_failed_runtime(log, names):
        return FAILED
    if any(names & _words(line) for line in log.not_created):
        return NOT_CREATED
    if log.of(LIBRARY_ERROR):
        return NOT_CREATED
    return FAILED if log.of(BENCHMARK_FAILED) else ""


def _words(line: str) -> set[str]:
    """Return the words of a line as plain names, and pairs of them: a name may be written as two."""
    words = line.split()
    return {plain_name(word) for word in (*words, *map("".join, pairwise(words)))} - {""}


def _has_failed_runtime(log: DeviceLog, names: set[str]) -> bool:
    """Return whether LiteRT 2 reports that what runs compiled parts of the model could not be started."""
    return any(part in name for name in names for part in (DISPATCH, "qnn")) and any(
        "source" in each.values and _FATAL.search(each.line) for each in log.of(FAILURE)
    )


def _outcome(log: DeviceLog, counts: tuple[Count, ...]) -> str:
    """Return how much of the graph was delegated, by the line that tells most; empty if none tells."""
    told = {each.source: each for each in counts}
    if "application" in told:
        by_line = {each.line: each.outcome for each in log.applications}
        return {"completely": WHOLE, "partially": PART, "not": NONE, "failed": FAILED}[by_line[told["application"].line]]
    lines = [each for each in counts if each.source == "replacement"]
    for each in lines[-1:] or [told[source] for source in ("own", "split") if source in told][:1]:
        if each.delegated == 0:
            return NONE
        is_all = each.delegated == each.total if each.total is not None else each.partitions == 1
        return WHOLE if is_all and all(line.delegated == line.total for line in lines[:-1]) else PART
    if "table" in told:
        summaries = [table for index, table in log.summaries.items() if index not in log.run_orders]
        complete = all(table.is_complete for table in log.run_orders.values()) and all(each.is_complete for each in summaries)
        if told["table"].on_cpu or any(table.lacks_rows for table in log.run_orders.values()):
            return PART
        return WHOLE if complete else APPLIED_TO
    if "kernels" in told:
        return APPLIED_TO if told["kernels"].kernels else NONE
    return ""


def _start(log: DeviceLog, names: set[str]) -> str:
    """Return how far the log follows a delegate of which no line says how much it took."""
    if any(plain_name(each.values["name"]) in names for each in log.of(APPLIED)):
        return APPLIED_TO
    if any(
        plain_name(each.values["name"]) in names
        for each in log.of(LISTED_REFUSALS, OPERATOR_REFUSED, SAID)
        if "name" in each.values
    ):
        return MADE
    return MADE if any(plain_name(name) in names for name in log.created) else UNKNOWN


def _operators(log: DeviceLog) -> Iterator[tuple[str, int]]:
    """Yield how many nodes of each operator the tables list, kernels of delegates left out."""
    counts: Counter[str] = Counter()
    for table in log.run_orders.values():
        counts.update(row.op for row in table.rows)
    for index, summary in log.summaries.items():
        if index not in log.run_orders:
            counts.update(summary.counts)
    yield from ((op, count) for op, count in counts.items() if not is_kernel(op))


def _refusals(log: DeviceLog) -> Iterator[tuple[str, str, int]]:
    for op, reason in log.listed_refusals:
        yield op, reason, 1
    for refusal in log.refusals:
        yield f"{refusal.op} (v{refusal.version})", refusal.message, refusal.times
    for each in log.of(OPERATOR_REFUSED):
        op = each.values.get("op") or _operator(int(each.values["code"]))
        yield op, each.values.get("why", ""), int(each.values.get("count", each.times))
    for each in log.of(DRIVER_REFUSAL):
        yield each.values["op"], f"the driver does not take {each.values['type']}", each.times


def _operator(code: int) -> str:
    """Return the operator with a code of the schema."""
    return operator_name(code)


def chosen_devices(log: DeviceLog) -> Iterator[tuple[str, int]]:
    """Yield the devices that the runtime behind the delegate chose, and for how many operations."""
    counts: Counter[str] = Counter()
    for each in log.of(CHOICE):
        number = int(each.values["number"])
        counts[each.values.get("device") or ("the CPU" if number < 0 else f"device {number}")] += each.times
    yield from counts.items()


_PART_TITLES = {
    RUNTIME: "Android's neural networks runtime",
    RUNTIME_ERROR: "Android's neural networks runtime",
    INTERFACE: "Android's neural networks runtime",
    FINISHED: "Android's neural networks runtime",
    CHOICE: "Android's neural networks runtime",
    DRIVER_REFUSAL: "the accelerator's driver",
    VENDOR: "the accelerator's vendor library",
    LITERT: "LiteRT 2's runtime",
    REGISTERED: "LiteRT 2's runtime",
    SKIPPED: "LiteRT 2's runtime",
    COMPILED: "LiteRT 2's compiler plugins",
}


def _parts(log: DeviceLog) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for each in log.of(*_PART_TITLES):
        counts[_PART_TITLES[each.kind]] += each.times
    yield from counts.items()


def _entry(delegate: LogDelegate) -> dict[str, Any]:
    return {**asdict(delegate), "counts": [asdict(count) for count in delegate.counts]}
