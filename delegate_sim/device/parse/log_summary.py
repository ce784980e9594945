"""Summarize a log without the model: delegates, their outcomes, all counts, and the errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...delegates.base import Delegate
from ...delegates.registry import ACCELERATORS, EDGE_TPU, find_delegate
from ...foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, positions
from ...foundation.work_budget import spend_steps
from ...model.schema import operator_name
from .applied_target import delegate_in, is_of_second_litert, is_switched_on, may_be_older, releases_of
from .compilations import NOT_COMPILED, compilation_text
from .delegate_identity import (
    DISPATCH,
    UNNAMED_KERNEL,
    accelerator_of,
    chip_names,
    delegate_named,
    has_hidden_kernels,
    is_kernel,
    last_turn,
    library_of,
    names_of,
    other_name,
    others_in,
    plain_name,
    registered_accelerators,
    requested_accelerators,
    statements_by,
)
from .error_meanings import ExplainedError, LogMeanings, cause_of, explained_errors, explained_notes, is_while_running
from .known_lines import ARMNN_PARSER, Statement
from .log_contents import Count, DeviceLog
from .log_outcomes import (
    APPLIED_TO,
    COMPILED_FOR,
    CRASHED,
    EXCEPTION,
    FAILED,
    FELL_BACK,
    MADE,
    NONE,
    NOT_COMPILED_FOR,
    NOT_CREATED,
    NOT_LOADED,
    NOT_RUN,
    NOT_SHOWN,
    PART,
    REQUESTED,
    RUN_FAILED,
    UNKNOWN,
    WHOLE,
    LogDelegate,
    counts_and_outcome,
    fatal_failures,
    is_planned,
    other_failure,
    outcome_of,
    outcome_without_counts,
    with_failed_run,
)
from .log_runs import NO, YES, NpuStages, counted_tables, counts_of, npu_stages, ordered_tables
from .log_runs import NOT_SHOWN as STAGE_NOT_SHOWN
from .tables import CRASHES, FORMS, KINDS, Event

_STEPS_OF_A_SUMMARY, _STEPS_OF_A_STATEMENT = 500, 20
_STAGE_OUTCOMES = {(NO, NO): NOT_COMPILED_FOR, (YES, STAGE_NOT_SHOWN): COMPILED_FOR, (YES, NO): FAILED}
"""The outcome of a delegate without lines of its own, by whether the model was compiled and loaded for the NPU."""


def _by_name(key: str) -> Column:
    return Column(key, OBJECT, source=lambda summary: dict(getattr(summary, key)))


@dataclass(frozen=True, slots=True)
class LogSummary(Declared):
    """A summary of one run's log."""

    columns = (
        *(Column("delegate", OBJECT), Column("end"), Column("graph", source="log.graph"), _by_name("options")),
        *(*attributes("others", "counts", type=LIST), _by_name("operators"), Column("times", OBJECT, source="log.times")),
        *(Column("releases", LIST), Column("may_be_older", YES_OR_NO, source=lambda own: may_be_older(own.log))),
        Column("is_old", YES_OR_NO, source="log.is_old"),
        Column("version", source=lambda own: own.log.tensorflow_version or ""),
        *(Column("refusals", LIST, parts=positions("op", "reason", "times")), Column("errors", LIST)),
        Column("chosen_devices", OBJECT, source="log.chosen_devices"),
        Column("available_devices", LIST, source="log.available_devices"),
        Column("compiled", LIST, source=lambda own: map(compilation_text, own.log.runtime.compilations)),
        *(Column("accelerators", LIST, source=lambda own: registered_accelerators(own.log)), Column("cause")),
        Column("notes", LIST, source=lambda own: explained_notes(own.log), parts=positions("line", "meaning")),
        *(Column("chips", LIST, source=lambda own: chip_names(own.log.chips)), Column("npu", OBJECT)),
        Column("edge_tpu", OBJECT, source=lambda own: None if own.log.edge_tpu == NOT_COMPILED else own.log.edge_tpu),
        *(_by_name("parts"), Column("line_count", INTEGER, source="log.line_count"), Column("unused", LIST, source="log.unused")),
        *(Column("unused_count", INTEGER, source="log.unused_count"), Column("is_cut", YES_OR_NO)),
    )

    log: DeviceLog
    delegate: LogDelegate
    end: str
    """The end of the run after the outcome, or "": ``crashed``, ``not-run`` (the model was not loaded), ``run-failed``,
    ``exception`` (the application reports one), or ``fell-back`` (the application says that it uses the CPU).
    """
    others: tuple[LogDelegate, ...]
    releases: tuple[str, ...]
    """The releases that may have printed the log. Empty if the log does not identify a release."""
    errors: tuple[ExplainedError, ...]
    cause: str
    """The line of the error that caused the failure, or "" if nothing failed."""
    npu: NpuStages | None
    is_cut: bool
    """True if the log ends before it shows the delegate's outcome."""

    @property
    def options(self) -> Mapping[str, str]:
        """The options that turn on delegates, and the number of threads."""
        values, names = {**self.log.flags, **self.log.parameters}, ("num threads", "external delegate path")
        off = ("", "0", "false")
        return {key: value for key, value in values.items() if key in names or (key.startswith("use ") and value not in off)}

    @property
    def counts(self) -> tuple[Count, ...]:
        """Counts that belong to no delegate. Those of a compiler plugin are left out if the delegate has some."""
        has_own = any(count.source == "compiled" for count in self.delegate.counts)
        executed = () if has_hidden_kernels(self.log) else self.log.statements_of(Event.EXECUTED)
        counts = [Count(statement.line, "executed", total=int(statement.values["count"])) for statement in executed]
        return (*(() if has_own else self.log.plugin_counts), *counts)

    @property
    def operators(self) -> tuple[tuple[str, int], ...]:
        """Number of nodes per operator in the log's tables. Delegate kernels are left out."""
        counts = Counter([row.op for table in ordered_tables(self.log).values() for row in table.rows])
        for summary in counted_tables(self.log).values():
            counts.update(summary.counts)
        return tuple([(op, count) for op, count in counts.items() if not is_kernel(op)])

    @property
    def refusals(self) -> tuple[tuple[str, str, int], ...]:
        """Refused operators, each with its reason and the number of lines about it. The reason may be ""."""
        return tuple(_refusals(self.log))

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Pairs of program and number of lines, for all other programs that printed lines, such as a driver."""
        counts: Counter[str] = Counter()
        for statement in self.log.statements:
            counts[KINDS[statement.kind].part] += statement.times
        return tuple([(part, count) for part, count in counts.items() if part])


@dataclass(frozen=True, slots=True)
class ExplainedLog(Declared):
    """The summaries of the runs in a log."""

    document = "log"
    columns = (Column("log", source="path"), Column("runs", LIST))

    path: str
    runs: tuple[LogSummary, ...]


def summary_of(log: DeviceLog) -> LogSummary:
    """Summarize the log of one run. The model is not needed. Raises LimitError."""
    spend_steps(_STEPS_OF_A_SUMMARY + _STEPS_OF_A_STATEMENT * len(log.statements), "reading the log")
    delegate = delegate_in(log)
    if log.edge_tpu != NOT_COMPILED and not log.replacements:
        own = _compiled_delegate(log)
    else:
        own = _simulated_delegate(log, delegate) if delegate is not None else _unsimulated_delegate(log)
    stages = npu_stages(log)
    if own.outcome in (REQUESTED, UNKNOWN):
        staged = own.outcome if stages is None else _STAGE_OUTCOMES.get((stages.compiled, stages.loaded), own.outcome)
        own = replace(own, outcome=CRASHED if log.has(*CRASHES) else staged)
    errors = explained_errors(log)
    own, others = _in_order(log, own, tuple(_other_delegates(log, delegate, own)))
    own, others, end = _with_end(log, own, others)
    has_wording = bool(log.replacements or log.tensorflow_version or is_of_second_litert(log))
    is_open = (own.outcome == MADE and log.ends_known) or own.outcome in (REQUESTED, UNKNOWN)
    is_open = not end and (own.is_planned or (is_open and not errors and log.times.is_empty))
    return LogSummary(
        log=log,
        delegate=own,
        end=end,
        others=others,
        releases=tuple(str(release) for release in releases_of(log, None, [])) if has_wording and not log.is_old else (),
        errors=errors,
        cause=_cause(log, (own, *others), errors, end),
        npu=stages,
        is_cut=is_open and not log.has(Event.MEASURED, *CRASHES),
    )


def _with_end(
    log: DeviceLog, own: LogDelegate, others: tuple[LogDelegate, ...]
) -> tuple[LogDelegate, tuple[LogDelegate, ...], str]:
    """Return the delegates and ``LogSummary.end``. If no interpreter is created, a delegate that took nothing is the reason."""
    last = max([0, *[replacement.place for replacement in log.replacements]])
    ended = log.statements_of(Event.LOAD_ERROR, Event.BENCHMARK_FAILED)
    failed = [error for error in ended if max(error.places, default=last) >= last]
    unprepared = [error for error in log.statements_of(Event.NODE_ERROR) if not is_while_running(error)]
    failed += [error for error in unprepared if max(error.places, default=0) >= last and not _is_of_delegate(error.values["op"])]
    if any(re.search(r"nterpreter\b", error.line) for error in failed):
        made = [delegate for delegate in (own, *others) if delegate.outcome == MADE]
        idle = [delegate for delegate in made if not (delegate.name and find_delegate(delegate.name).is_applied_by_default)]
        if len(idle) == 1:
            own, *rest = [replace(item, outcome=FAILED) if item is idle[0] else item for item in (own, *others)]
            return own, tuple(rest), ""
    if log.has(*CRASHES) and own.outcome != CRASHED:
        return own, others, CRASHED
    stopped = [error.values["op"] for error in log.statements_of(Event.NODE_ERROR) if is_while_running(error)]
    if own.outcome == NOT_LOADED and stopped:
        return replace(own, outcome=UNKNOWN), others, RUN_FAILED
    is_applied = own.outcome in (WHOLE, PART, NONE, APPLIED_TO, MADE) and not own.failed_running
    if is_applied and stopped and not any(map(_is_of_delegate, stopped)):
        return own, others, RUN_FAILED
    if failed and is_applied:
        return own, others, NOT_RUN
    guessed = max([place for line in _guesses(log) for place in line.places], default=0)
    if is_applied and guessed > max(log.places(Event.CREATED), default=0):
        return own, others, EXCEPTION
    errors = [error for error in log.errors if FORMS["no-cause"].search(error.line) is None]
    last = max([1, last, *[place for error in errors for place in error.places[:1]]])
    has_failed = own.outcome in (FAILED, NOT_CREATED)
    ends = {FELL_BACK: has_failed, EXCEPTION: has_failed or is_applied}
    return own, others, next((end for end, fits in ends.items() if fits and max(log.places(end), default=0) >= last), "")


def _is_of_delegate(op: str) -> bool:
    return is_kernel(op) or bool(other_name(op))


def _guesses(log: DeviceLog) -> list[Statement]:
    """Return the lines in which an application guesses why an exception was raised."""
    return [line for line in log.statements_of(Event.NOT_CREATED) if "guess" in line.values]


def _in_order(log: DeviceLog, own: LogDelegate, others: tuple[LogDelegate, ...]) -> tuple[LogDelegate, tuple[LogDelegate, ...]]:
    """Return the delegate that was applied first, and the others. After a failure, an application may try another."""
    last = {mentioned.title: last_turn(log, _names(log, mentioned)) for mentioned in (own, *others)}
    first = next((other for other in others if other.outcome == FAILED and last[other.title] < last[own.title]), None)
    delegate = find_delegate(first.name) if first is not None and first.name else None
    if first is not None and delegate is not None and not delegate.is_applied_by_default:
        own, others = first, tuple(own if other is first else other for other in others)
    return own, tuple(replace(other, is_later=last[other.title] > last[own.title]) for other in others)


def _names(log: DeviceLog, delegate: LogDelegate) -> set[str]:
    if delegate.name:
        return names_of(log, find_delegate(delegate.name))
    return {plain_name(delegate.title), *[plain_name(name) for name in others_in(log) if _title(name) == delegate.title]}


def _cause(log: DeviceLog, delegates: Sequence[LogDelegate], errors: Sequence[ExplainedError], end: str) -> str:
    outcomes = (FAILED, NOT_CREATED, NOT_LOADED, NOT_COMPILED_FOR)
    has_failed = bool(end) or any(delegate.failed_running or delegate.outcome in outcomes for delegate in delegates)
    if NOT_CREATED not in {delegate.outcome for delegate in delegates}:  # an application's guess is no cause
        guesses = {line.line for line in _guesses(log)}
        errors = [error for error in errors if error.line not in guesses]
    cause = cause_of(errors) if has_failed or any(error.kind in CRASHES for error in errors) else None
    refused = [statement.line for statement in log.statements_of(Event.OPERATOR_REFUSED) if "name" in statement.values]
    if cause is not None and cause.kind == Event.KERNEL_ERROR and refused:
        return refused[-1]  # old delegates fail at the first operator that they refuse
    return "" if cause is None else cause.line


def _compiled_delegate(log: DeviceLog) -> LogDelegate:
    compilation = log.edge_tpu
    mapped, left, kernels = compilation.mapped, compilation.left, compilation.kernels
    total = compilation.total if mapped is None or left is None else mapped + left
    count = Count("Edge TPU Compiler", "compiler", mapped, total, left, None, kernels, None, compilation.has_all_counts)
    has_counts = any(number is not None for number in (mapped, left, total))
    outcome = NOT_COMPILED_FOR if compilation.failure else COMPILED_FOR if compilation.is_done else UNKNOWN
    return LogDelegate(EDGE_TPU, EDGE_TPU, outcome, (count,) if has_counts else ())


def _simulated_delegate(log: DeviceLog, delegate: Delegate) -> LogDelegate:
    names = names_of(log, delegate)
    if is_switched_on(delegate, log):
        names |= {plain_name(UNNAMED_KERNEL)}
    name = library_of(log) if delegate.log.libraries else ""
    counts, outcome = counts_and_outcome(log, names, is_requested=bool(name) or is_switched_on(delegate, log))
    meanings = LogMeanings(log)
    absent = [line for line in log.statements_of(Event.NOT_REGISTERED) if not meanings.is_benign(line)]
    missing = {ACCELERATORS.get(accelerator_of(line.values["name"]).casefold()) for line in absent}
    if outcome == REQUESTED and delegate.name in missing:
        outcome = NOT_CREATED
    if not name:
        # Some delegates, such as Apple's, have several kernels.
        name = next((replacement.kernel for replacement in log.replacements if replacement.kernel in delegate.kernel_names), "")
        name = "" if name == delegate.kernel_name else name
    name = name or _interface(log, delegate, names) or _requested_device(log, delegate)
    if not name and delegate.log.chip and not chip_names(log.chips):
        name = f"if the chip is an {delegate.log.chip}; the log does not show the chip"
    title = f"{delegate.name} ({name})" if name else delegate.name
    prints = delegate.log.prints_kernels and any(line.kernel == delegate.kernel_name for line in log.replacements)
    plans = outcome in (WHOLE, PART) and is_planned(log, names, counts, prints_kernels=prints)
    return with_failed_run(log, names, LogDelegate(delegate.name, title, outcome, counts, is_planned=plans))


def _interface(log: DeviceLog, delegate: Delegate, names: set[str]) -> str:
    """Return the graphics interface that a delegate uses, or "". The delegate for Metal names it when it is created."""
    used = [line.values["interface"] for line in statements_by(log, names, Event.INTERFACE_USED) if "interface" in line.values]
    own = {plain_name(name) for name in (delegate.name, delegate.provider_name, delegate.kernel_name)}
    made = [name for name in log.created if plain_name(name) in names - own]
    return next(iter([*used[-1:], *made]), "")


def _requested_device(log: DeviceLog, delegate: Delegate) -> str:
    """Return the device that benchmark_model is told to use through a delegate, or ""."""
    title = f"{delegate.name} accelerator name"
    return log.parameters.get(title, log.flags.get(title, "")).strip()


def _unsimulated_delegate(log: DeviceLog) -> LogDelegate:
    others = others_in(log)
    kernels = [replacement.kernel for replacement in log.replacements if delegate_named(replacement.kernel) is None]
    name = next(iter([*kernels, *others]), "") or library_of(log) or ", ".join(requested_accelerators(log))
    name = name or (UNNAMED_KERNEL if UNNAMED_KERNEL in log.table_operators else "")
    known = other_name(name)
    # Different lines may use different names for the same delegate.
    same = [same_name for same_name in others if known and other_name(same_name) == known]
    names = {plain_name(plain) for plain in (name, *same, *(_ANY_PROVIDER if name else ()))}
    counts, outcome = counts_and_outcome(log, names, is_requested=bool(name) and not log.has(Event.COMPILER_REFUSAL))
    if outcome == UNKNOWN and log.statements_of(Event.BUILTIN_ERROR, Event.CUSTOM_ERROR, Event.LOAD_ERROR, Event.NODE_ERROR):
        outcome = NOT_LOADED
    is_whole = bool(log.parameters or log.flags) and not is_of_second_litert(log)
    has_run = is_whole and (log.times.warmup_ms is not None or bool(log.statements_of(Event.MEASURED)))
    if outcome == UNKNOWN and has_run and not explained_errors(log):
        outcome = NOT_SHOWN
    if outcome == FAILED and log.has(Event.FLEX_ERROR) and not log.replacements:
        outcome = NOT_CREATED  # the operators report that there is no Flex delegate
    if outcome == MADE and name == ARMNN_PARSER:
        outcome = NOT_LOADED  # this delegate takes only whole models
    if outcome in (UNKNOWN, REQUESTED) and log.statements_of(Event.COMPILED_PART, Event.COMPILER_SUMMARY):
        outcome = COMPILED_FOR
    plans = outcome in (WHOLE, PART) and is_planned(log, names, counts, prints_kernels=False)
    return with_failed_run(log, names, LogDelegate("", _title(name), outcome, counts, is_planned=plans))


_ANY_PROVIDER = ("external", "stable")
"""The names that benchmark_model gives to delegates from libraries, as plain names."""


def _title(name: str) -> str:
    known = other_name(name)
    return f"{known} ({name})" if known else name


def _other_delegates(log: DeviceLog, delegate: Delegate | None, own: LogDelegate) -> Iterator[LogDelegate]:
    seen = {own.name}
    fatal = [failure.values.get("source", "") + failure.line for failure in fatal_failures(log)]
    has_failed_dispatch = any(DISPATCH in plain_name(line) for line in fatal)
    kernels = [*[replacement.kernel for replacement in log.replacements], *log.table_operators]
    for name in dict.fromkeys([*kernels, *log.created]):
        other = delegate_named(name)
        if other is None or other.name in seen or (delegate is not None and name in delegate.kernel_names):
            continue
        seen.add(other.name)
        names = {plain_name(kernel_name) for kernel_name in other.kernel_names}
        counts = tuple(counts_of(log, names))
        yield LogDelegate(other.name, other.name, other_failure(log, other, names) or outcome_of(log, counts) or MADE, counts)
    counted = {count.line for count in own.counts}
    known = {other_name(own.title)}
    for name in others_in(log):
        counts = tuple([count for count in counts_of(log, {plain_name(name)}) if count.line not in counted])
        counted |= {count.line for count in counts}
        if counts:
            yield LogDelegate("", _title(name), outcome_of(log, counts) or REQUESTED, counts)
        elif plain_name(name) in _ANY_PROVIDER:
            continue
        elif other_name(name) not in known and outcome_without_counts(log, {plain_name(name)}) == MADE:
            yield LogDelegate("", _title(name), MADE, ())
        elif own.name and DISPATCH not in seen and DISPATCH in plain_name(name) and has_failed_dispatch:
            seen.add(DISPATCH)
            yield LogDelegate("", _title(name), FAILED, ())
        known.add(other_name(name))


def _refusals(log: DeviceLog) -> Iterator[tuple[str, str, int]]:
    yield from [(op, reason, 1) for op, reason in log.listed_refusals]
    rows = [row.values for row in log.statements_of(Event.NPU_ROW)]
    yield from [(values["op"], "", 1) for values in rows if values["support"] == "unsupported"]
    yield from [(row.op, row.status, row.count) for row in log.edge_tpu.rows if not row.is_mapped]
    yield from [(f"{op} (v{version})", message, times) for (op, version, message), times in log.refusals.items()]
    for statement in log.statements_of(Event.OPERATOR_REFUSED):
        op = statement.values.get("op") or operator_name(int(statement.values["code"]))
        yield op, statement.values.get("why", ""), int(statement.values.get("count", statement.times))
    refused = [line.values for line in log.statements_of(Event.COMPILER_REFUSAL)]
    compiler = Counter([(values["op"], values.get("needed", values["why"])) for values in refused])
    yield from [(op, why, times) for (op, why), times in compiler.items()]
    for statement in log.statements_of(Event.DRIVER_REFUSAL):
        yield statement.values["op"], f"the driver does not support {statement.values['type']}", statement.times
