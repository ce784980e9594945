"""Summarize a log without the model: delegates, their outcomes, all counts, and the errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ...delegates.base import Delegate
from ...delegates.registry import EDGE_TPU, find_delegate
from ...foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, positions
from ...model.schema import operator_name
from ..compare.runtime_log_check import compilation_text
from .applied_target import delegate_in, is_of_second_litert, is_switched_on, may_be_older, releases_of
from .delegate_identity import (
    DISPATCH,
    UNNAMED_KERNEL,
    chip_names,
    delegate_named,
    last_turn,
    library_of,
    names_of,
    other_name,
    others_in,
    plain_name,
    registered_accelerators,
    requested_accelerators,
    without_errors_of_others,
)
from .delegated_counts import Count, count_of_plugin, counts_of, is_kernel
from .edge_tpu_compiler import NOT_COMPILED, EdgeTpuCompilation
from .error_meanings import ExplainedError, cause_of, explained_errors, explained_notes, is_while_running
from .known_lines import (
    API_ERROR,
    APPLIED,
    ARMNN_PARSER,
    BENCHMARK_FAILED,
    BUILTIN_ERROR,
    CHOICE,
    COMPILED,
    COMPILED_PART,
    CRASH,
    CUSTOM_ERROR,
    DRIVER_REFUSAL,
    DYNAMIC_ERROR,
    EXECUTED,
    FAILURE,
    FINISHED,
    FLEX_ERROR,
    HINT_ERROR,
    IMMUTABLE_ERROR,
    INTERFACE,
    KERNEL_ERROR,
    LIBRARY_ERROR,
    LISTED_REFUSAL,
    LISTED_REFUSALS,
    LITERT,
    LOAD_ERROR,
    MEASURED,
    NODE_ERROR,
    NOT_APPLIED,
    OPERATOR_REFUSED,
    OTHER_ERROR,
    OWN_COUNT,
    PREPARATION_ERROR,
    REGISTERED,
    RESTORED,
    RUNTIME,
    RUNTIME_ERROR,
    SAID,
    SKIPPED,
    TEFLON_ROW,
    VENDOR,
    VENDOR_ERROR,
)
from .log_contents import DeviceLog

WHOLE, PART, NONE, FAILED, NOT_CREATED, NOT_LOADED, NOT_SHOWN, APPLIED_TO, MADE, REQUESTED, UNKNOWN = (
    "whole", "part", "none", "failed", "not-created", "not-loaded", "not-shown", "applied", "created", "requested", "unknown",
)  # fmt: skip
COMPILED_FOR, NOT_COMPILED_FOR, CRASHED = "compiled", "not-compiled", "crashed"
"""Outcomes of a delegate.

``compiled`` and ``not-compiled``: the log is from a compiler, and shows no run. ``not-loaded``: the runtime could not load or
prepare the model, whether or not a delegate was applied. ``not-shown``: the benchmark ran to its end, but the log has no line
of a delegate. ``crashed``: the process crashed before the log shows what the delegate did. ``created``, ``requested`` and
``unknown``: the log shows no later stage.
"""

_FATAL = re.compile(r"initiali[sz]e|create|load|prepare|execute|invoke|modify|compile|No usable")
"""Matches errors of LiteRT 2 after which no node runs. After all other errors, LiteRT 2 continues."""


@dataclass(frozen=True, slots=True)
class LogDelegate:
    """A delegate in a log. If the delegate is not simulated, ``name`` is empty. Users see ``title``."""

    name: str
    title: str
    outcome: str
    counts: tuple[Count, ...]
    failed_running: bool = False
    """True if the delegate was applied, but failed while the model ran."""
    is_later: bool = False
    """True if the log shows that another delegate was applied first."""


def _counts_by_name(key: str) -> Column:
    return Column(key, OBJECT, source=lambda summary: dict(getattr(summary, key)))


COMPILER = Column("edge_tpu", OBJECT, source=lambda own: None if own.edge_tpu == NOT_COMPILED else own.edge_tpu)
"""The column of the Edge TPU compiler's output. None if there is no output."""


@dataclass(frozen=True, slots=True)
class LogSummary(Declared):
    """A summary of one run's log."""

    columns = (
        *(Column("delegate", OBJECT), *attributes("others", "counts", type=LIST), _counts_by_name("operators")),
        *(Column("releases", LIST), *attributes("may_be_older", "is_old", type=YES_OR_NO), Column("version")),
        Column("refusals", LIST, parts=positions("op", "reason", "times")),
        *(Column("errors", LIST), _counts_by_name("chosen_devices"), *attributes("compiled", "accelerators", type=LIST)),
        *(Column("cause"), Column("notes", LIST, parts=positions("line", "meaning"))),
        *(Column("chips", LIST), COMPILER, _counts_by_name("parts"), Column("line_count", INTEGER), Column("unused", LIST)),
        *(Column("unused_count", INTEGER), Column("is_cut", YES_OR_NO)),
    )

    delegate: LogDelegate
    others: tuple[LogDelegate, ...]
    """Other delegates, such as a delegate that the runtime applies to the remaining nodes."""
    counts: tuple[Count, ...]
    """Counts that belong to no delegate."""
    operators: tuple[tuple[str, int], ...]
    """Number of nodes per operator in the log's tables."""
    releases: tuple[str, ...]
    """The releases that may have printed the log. Empty if the log does not identify a release."""
    may_be_older: bool
    is_old: bool
    """True if the log is certainly from a release that is older than all known releases."""
    version: str
    """The release that the log names, or "" if the log names no release."""
    refusals: tuple[tuple[str, str, int], ...]
    """Refused operators, each with its reason and the number of lines about it. The reason may be ""."""
    errors: tuple[ExplainedError, ...]
    chosen_devices: tuple[tuple[str, int], ...]
    """The devices that the runtime behind the delegate chose, each with its number of operations."""
    compiled: tuple[str, ...]
    """Description of each model that the runtime behind the delegate compiled."""
    accelerators: tuple[str, ...]
    """The accelerators that LiteRT 2 registered."""
    cause: str
    """The line of the error that caused the failure, or "" if nothing failed."""
    notes: tuple[tuple[str, str], ...]
    """Pairs of line and meaning, for notable lines that are not errors. The meaning may be ""."""
    chips: tuple[str, ...]
    """The vendors and SoCs that the log names."""
    edge_tpu: EdgeTpuCompilation
    """The output of the Edge TPU compiler."""
    parts: tuple[tuple[str, int], ...]
    """Pairs of program and number of lines, for all other programs that printed lines, such as a driver."""
    line_count: int
    unused: tuple[str, ...]
    unused_count: int
    is_cut: bool
    """True if the log ends before it shows the delegate's outcome."""


@dataclass(frozen=True, slots=True)
class ExplainedLog(Declared):
    """The summaries of the runs in a log."""

    document = "log"
    columns = (Column("log", source="path"), Column("runs", LIST))

    path: str
    runs: tuple[LogSummary, ...]


def summary_of(log: DeviceLog) -> LogSummary:
    """Summarize the log of one run. The model is not needed."""
    delegate = delegate_in(log)
    if log.edge_tpu != NOT_COMPILED and not log.replacements:
        own = _compiled_delegate(log)
    else:
        own = _simulated_delegate(log, delegate) if delegate is not None else _unsimulated_delegate(log)
    if own.outcome in (REQUESTED, UNKNOWN) and log.statements_of(CRASH):
        own = replace(own, outcome=CRASHED)
    errors = explained_errors(log)
    own, others = _in_order(log, own, tuple(_other_delegates(log, delegate, own)))
    has_wording = bool(log.replacements or log.tensorflow_version or is_of_second_litert(log))
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
        errors,
        tuple(chosen_devices(log)),
        tuple(map(compilation_text, log.runtime.compilations)),
        registered_accelerators(log),
        _cause(log, (own, *others), errors),
        explained_notes(log),
        chip_names(log.chips),
        log.edge_tpu,
        tuple(_parts(log)),
        log.line_count,
        log.unused,
        log.unused_count,
        own.outcome in (MADE, REQUESTED, UNKNOWN) and not log.statements_of(MEASURED, CRASH),
    )


def _in_order(log: DeviceLog, own: LogDelegate, others: tuple[LogDelegate, ...]) -> tuple[LogDelegate, tuple[LogDelegate, ...]]:
    """Return the delegate that the application applied first, and all other delegates.

    If the first delegate fails, an application may try another one.
    """
    last = {mentioned.title: last_turn(log, _names(log, mentioned)) for mentioned in (own, *others)}
    first = next((other for other in others if other.outcome == FAILED and last[other.title] < last[own.title]), None)
    delegate = find_delegate(first.name) if first is not None and first.name else None
    if first is not None and delegate is not None and not delegate.is_applied_by_default:
        own, others = first, tuple(own if other is first else other for other in others)
    return own, tuple(replace(other, is_later=last[other.title] > last[own.title]) for other in others)


def _names(log: DeviceLog, delegate: LogDelegate) -> set[str]:
    return names_of(log, find_delegate(delegate.name)) if delegate.name else {plain_name(delegate.title)}


def _cause(log: DeviceLog, delegates: Sequence[LogDelegate], errors: Sequence[ExplainedError]) -> str:
    """Return the line of the error that caused the failure, or "" if nothing failed."""
    outcomes = (FAILED, NOT_CREATED, NOT_LOADED, NOT_COMPILED_FOR)
    has_failed = any(delegate.failed_running or delegate.outcome in outcomes for delegate in delegates)
    cause = cause_of(errors) if has_failed or any(error.kind == CRASH for error in errors) else None
    refused = [statement.line for statement in log.statements_of(OPERATOR_REFUSED) if "name" in statement.values]
    if cause is not None and cause.kind == KERNEL_ERROR and refused:
        return refused[-1]  # old delegates fail at the first operator that they refuse
    return "" if cause is None else cause.line


def _compiled_delegate(log: DeviceLog) -> LogDelegate:
    compilation = log.edge_tpu
    delegate = delegate_named(EDGE_TPU)
    mapped, left = compilation.mapped, compilation.left
    counts = []
    if mapped is not None or left is not None:
        total = None if mapped is None or left is None else mapped + left
        is_complete = compilation.has_all_counts
        counts.append(
            Count("Edge TPU Compiler", "compiler", mapped, total, left, None, compilation.kernels, is_complete=is_complete)
        )
    outcome = NOT_COMPILED_FOR if compilation.failure else COMPILED_FOR if compilation.is_done else UNKNOWN
    name = delegate.name if delegate is not None else ""
    return LogDelegate(name, name or _title(EDGE_TPU), outcome, tuple(counts))


def _simulated_delegate(log: DeviceLog, delegate: Delegate) -> LogDelegate:
    names = names_of(log, delegate)
    if is_switched_on(delegate, log):
        names |= {plain_name(UNNAMED_KERNEL)}
    counts = tuple(counts_of(log, names))
    outcome = _failure(log, names) or _outcome(log, counts) or _outcome_without_counts(log, names)
    if outcome == UNKNOWN and is_switched_on(delegate, log):
        outcome = REQUESTED
    name = library_of(log) if delegate.log.libraries else ""
    if not name:
        # Some delegates, such as Apple's, have several kernels.
        name = next((replacement.kernel for replacement in log.replacements if replacement.kernel in delegate.kernel_names), "")
        name = "" if name == delegate.kernel_name else name
    if not name and delegate.log.chip and not chip_names(log.chips):
        name = f"if the chip is an {delegate.log.chip}; the log does not show the chip"
    title = f"{delegate.name} ({name})" if name else delegate.name
    return _with_failed_run(log, names, LogDelegate(delegate.name, title, outcome, counts))


def _unsimulated_delegate(log: DeviceLog) -> LogDelegate:
    others = others_in(log)
    kernels = [replacement.kernel for replacement in log.replacements if delegate_named(replacement.kernel) is None]
    name = kernels[0] if kernels else others[0] if others else library_of(log) or ", ".join(requested_accelerators(log))
    if not name and UNNAMED_KERNEL in _table_names(log):
        name = UNNAMED_KERNEL
        kernels = [name]
    known = other_name(name)
    # Different lines may use different names for the same delegate.
    same = [same_name for same_name in others if known and other_name(same_name) == known]
    names = {plain_name(plain) for plain in (name, *same, *(["external"] if name else []))}
    counts = tuple(counts_of(log, names))
    outcome = _failure(log, names) or _outcome(log, counts) or _outcome_without_counts(log, names)
    if outcome == UNKNOWN and name:
        outcome = REQUESTED
    if outcome == UNKNOWN and log.statements_of(BUILTIN_ERROR, CUSTOM_ERROR, LOAD_ERROR, NODE_ERROR):
        outcome = NOT_LOADED
    if outcome == UNKNOWN and log.statements_of(MEASURED) and not explained_errors(log):
        outcome = NOT_SHOWN
    if outcome == MADE and name == ARMNN_PARSER:
        outcome = NOT_LOADED  # this delegate takes only whole models
    if outcome in (UNKNOWN, REQUESTED) and log.statements_of(COMPILED_PART):
        outcome = COMPILED_FOR
    return _with_failed_run(log, names, LogDelegate("", _title(name), outcome, counts))


def _with_failed_run(log: DeviceLog, names: set[str], delegate: LogDelegate) -> LogDelegate:
    """Return the delegate. If it failed while the model ran, mark it as applied and failed."""
    if delegate.outcome in (FAILED, NOT_CREATED) or not any(
        is_while_running(error) and plain_name(error.values.get("op") or error.values.get("name", "")) in names
        for error in log.errors
    ):
        return delegate
    outcome = APPLIED_TO if delegate.outcome in (MADE, REQUESTED, UNKNOWN, NOT_LOADED) else delegate.outcome
    return replace(delegate, outcome=outcome, failed_running=True)


def _title(name: str) -> str:
    known = other_name(name)
    return f"{known} ({name})" if known else name


def _table_names(log: DeviceLog) -> list[str]:
    rows = [row.op for table in log.run_orders.values() for row in table.rows]
    return [*rows, *[op for summary in log.summaries.values() for op in summary.counts]]


def _other_delegates(log: DeviceLog, delegate: Delegate | None, own: LogDelegate) -> Iterator[LogDelegate]:
    seen = {own.name}
    kernels = [*[replacement.kernel for replacement in log.replacements], *_table_names(log)]
    for name in dict.fromkeys([*kernels, *log.created]):
        other = delegate_named(name)
        if other is None or other.name in seen or (delegate is not None and name in delegate.kernel_names):
            continue
        seen.add(other.name)
        names = {plain_name(kernel_name) for kernel_name in other.kernel_names}
        counts = tuple(counts_of(log, names))
        yield LogDelegate(other.name, other.name, _other_failure(log, other, names) or _outcome(log, counts) or MADE, counts)
    counted = {count.line for count in own.counts}
    for name in others_in(log):
        counts = tuple([count for count in counts_of(log, {plain_name(name)}) if count.line not in counted])
        counted |= {count.line for count in counts}
        if counts:
            yield LogDelegate("", _title(name), _outcome(log, counts) or REQUESTED, counts)
        elif own.name and DISPATCH not in seen and DISPATCH in plain_name(name) and _has_failed_dispatch(log):
            seen.add(DISPATCH)
            yield LogDelegate("", _title(name), FAILED, ())


def _other_failure(log: DeviceLog, delegate: Delegate, names: set[str]) -> str:
    """Return the outcome of a failure that certainly belongs to a delegate, or "" if there is none.

    If a delegate that is applied by default refuses a graph with dynamic tensors, this is not a failure.
    """
    lines = without_errors_of_others(log, names, is_certain=True)
    kinds = (
        NODE_ERROR, API_ERROR, HINT_ERROR, KERNEL_ERROR, PREPARATION_ERROR, DYNAMIC_ERROR, IMMUTABLE_ERROR, RESTORED, NOT_APPLIED,
    )  # fmt: skip
    lines = replace(lines, statements=lines.statements_of(*kinds))
    if delegate.is_applied_by_default and lines.dynamic_tensor is not None:
        return NONE
    return _failure(lines, names)


def _general_counts(log: DeviceLog, own: LogDelegate) -> Iterator[Count]:
    """Yield the counts that belong to no delegate.

    If ``own`` already has counts of a compiler plugin, such counts are left out.
    """
    if not any(count.source == "compiled" for count in own.counts):
        yield from map(count_of_plugin, log.statements_of(COMPILED))
    for statement in log.statements_of(EXECUTED):
        yield Count(statement.line, "executed", total=int(statement.values["count"]))


_NAMING_ERRORS = (API_ERROR, HINT_ERROR, OTHER_ERROR)
"""Kinds of errors that prevent the application of a delegate. Such an error may name the delegate."""


def _failure(log: DeviceLog, names: set[str]) -> str:
    """Return the outcome of a delegate that could not be applied, or "" if the log shows no failure."""
    applied = [application for application in log.applications if plain_name(application.provider) in names]
    if applied:
        return FAILED if applied[-1].outcome == "failed" else ""
    log = without_errors_of_others(log, names, is_certain=False)
    if log.is_restored or log.dynamic_tensor is not None or log.statements_of(NOT_APPLIED):
        return FAILED
    errors = [error for error in log.errors if not is_while_running(error)]
    is_replaced = any(plain_name(replacement.kernel) in names for replacement in log.replacements)
    if not is_replaced and log.statements_of(IMMUTABLE_ERROR):
        return FAILED
    if any(plain_name(error.values["op"]) in names for error in errors if error.kind == NODE_ERROR):
        return FAILED
    if any(plain_name(error.values.get("name", "")) in names - {""} for error in errors if error.kind in _NAMING_ERRORS):
        return FAILED
    if any(error.kind == FAILURE and "create compiled model" in error.line for error in errors):
        return FAILED
    if any(error.kind in (KERNEL_ERROR, PREPARATION_ERROR, FLEX_ERROR) for error in errors) or _has_failed_runtime(log, names):
        return FAILED
    counted = max([0, *[place for count in log.statements_of(OWN_COUNT) for place in count.places]])
    if any(
        "_handle" in error.line and max(error.places, default=0) >= counted
        for error in errors
        if error.kind == VENDOR_ERROR and names & {plain_name(error.values.get("name", ""))}
    ):
        return FAILED
    if any(names & _words(line) for line in log.not_created):
        return NOT_CREATED
    if log.statements_of(LIBRARY_ERROR):
        return NOT_CREATED
    is_made = not (names - {""}) or not any("what" in error.values for error in errors if error.kind == LOAD_ERROR)
    has_ended = bool(log.statements_of(BENCHMARK_FAILED)) and bool(names - {""})
    return "" if is_made and not has_ended else FAILED


def _words(line: str) -> set[str]:
    """Return each word and each pair of successive words of a line, as plain names, because a name can have two words."""
    words = line.split()
    return {plain_name(word) for word in (*words, *map("".join, pairwise(words)))} - {""}


def _has_failed_runtime(log: DeviceLog, names: set[str]) -> bool:
    """Return whether LiteRT 2 prints that the runtime for compiled parts of the model failed to start."""
    return any(part in name for name in names for part in (DISPATCH, "qnn")) and any(
        "source" in statement.values and _FATAL.search(statement.line) for statement in log.statements_of(FAILURE)
    )


def _has_failed_dispatch(log: DeviceLog) -> bool:
    """Return whether LiteRT 2 prints a dispatch error after which no node of the compiled parts runs."""
    return any(
        DISPATCH in plain_name(statement.values.get("source", "") + statement.line) and _FATAL.search(statement.line)
        for statement in log.statements_of(FAILURE)
    )


def _outcome(log: DeviceLog, counts: tuple[Count, ...]) -> str:
    """Return the outcome that the most conclusive line with counts shows, or "" if there is no such line."""
    by_source = {count.source: count for count in counts}
    if "application" in by_source:
        by_line = {application.line: application.outcome for application in log.applications}
        return {"completely": WHOLE, "partially": PART, "not": NONE, "failed": FAILED}[by_line[by_source["application"].line]]
    lines = [count for count in counts if count.source == "replacement"]
    for count in lines[-1:] or [by_source[source] for source in ("own", "split") if source in by_source][:1]:
        if count.delegated == 0:
            return NONE
        if count.total is None and count.partitions is None:
            return APPLIED_TO
        is_all = count.delegated == count.total if count.total is not None else count.partitions == 1
        return WHOLE if is_all and all(line.delegated == line.total for line in lines[:-1]) else PART
    if "table" in by_source:
        summaries = [table for index, table in log.summaries.items() if index not in log.run_orders]
        complete = all(table.is_complete for table in log.run_orders.values()) and all(
            summary.is_complete for summary in summaries
        )
        if by_source["table"].on_cpu or any(table.lacks_rows for table in log.run_orders.values()):
            return PART
        return WHOLE if complete else APPLIED_TO
    if "kernels" in by_source:
        return APPLIED_TO if by_source["kernels"].kernels else NONE
    return ""


def _outcome_without_counts(log: DeviceLog, names: set[str]) -> str:
    """Return the outcome of a delegate if no line shows the number of nodes that it replaced."""
    if any(plain_name(statement.values["name"]) in names for statement in log.statements_of(APPLIED)):
        return APPLIED_TO
    if any(
        plain_name(statement.values["name"]) in names
        for statement in log.statements_of(LISTED_REFUSALS, LISTED_REFUSAL, OPERATOR_REFUSED, SAID, TEFLON_ROW)
        if "name" in statement.values
    ):
        return MADE
    return MADE if any(plain_name(name) in names for name in log.created) else UNKNOWN


def _operators(log: DeviceLog) -> Iterator[tuple[str, int]]:
    """Yield each operator in the log's tables, and its number of nodes. Delegate kernels are left out."""
    counts: Counter[str] = Counter()
    for table in log.run_orders.values():
        counts.update(row.op for row in table.rows)
    for index, summary in log.summaries.items():
        if index not in log.run_orders:
            counts.update(summary.counts)
    yield from ((op, count) for op, count in counts.items() if not is_kernel(op))


def _refusals(log: DeviceLog) -> Iterator[tuple[str, str, int]]:
    """Yield each refused operator with the reason, and how many times the log has this refusal."""
    for op, reason in log.listed_refusals:
        yield op, reason, 1
    for statement in log.statements_of(TEFLON_ROW):
        if statement.values["support"] == "unsupported":
            yield statement.values["op"], "", 1
    for row in log.edge_tpu.rows:
        if not row.is_mapped:
            yield row.op, row.status, row.count
    for refusal in log.refusals:
        yield f"{refusal.op} (v{refusal.version})", refusal.message, refusal.times
    for statement in log.statements_of(OPERATOR_REFUSED):
        op = statement.values.get("op") or operator_name(int(statement.values["code"]))
        yield op, statement.values.get("why", ""), int(statement.values.get("count", statement.times))
    for statement in log.statements_of(DRIVER_REFUSAL):
        yield statement.values["op"], f"the driver does not support {statement.values['type']}", statement.times


def chosen_devices(log: DeviceLog) -> Iterator[tuple[str, int]]:
    """Yield the devices that the runtime behind the delegate chose, each with its number of operations."""
    counts: Counter[str] = Counter()
    for statement in log.statements_of(CHOICE):
        number = int(statement.values["number"])
        counts[statement.values.get("device") or ("the CPU" if number < 0 else f"device {number}")] += statement.times
    yield from counts.items()


_PART_TITLES = {
    **dict.fromkeys((RUNTIME, RUNTIME_ERROR, INTERFACE, FINISHED, CHOICE), "Android's neural networks runtime"),
    DRIVER_REFUSAL: "the accelerator's driver",
    **dict.fromkeys((VENDOR, VENDOR_ERROR), "the accelerator's vendor library"),
    **dict.fromkeys((LITERT, REGISTERED, SKIPPED), "LiteRT 2's runtime"),
    COMPILED: "LiteRT 2's compiler plugins",
}


def _parts(log: DeviceLog) -> Iterator[tuple[str, int]]:
    """Yield the parts of the system that printed lines, each with its number of lines."""
    counts: Counter[str] = Counter()
    for statement in log.statements_of(*_PART_TITLES):
        counts[_PART_TITLES[statement.kind]] += statement.times
    yield from counts.items()
