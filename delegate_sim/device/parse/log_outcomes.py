"""The outcome of a delegate in a log: whether it was applied, and to which nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from ...delegates.base import Delegate
from ...delegates.registry import APPLIED_BY_DEFAULT
from .delegate_identity import (
    BEGINNING,
    DISPATCH,
    plain_name,
    statements_by,
    without_errors_of_others,
)
from .error_meanings import LogMeanings, is_while_running
from .known_lines import Statement
from .log_contents import Count, DeviceLog
from .log_runs import counts_of
from .tables import FORMS, KINDS, Event, kinds_with

WHOLE, PART, NONE, FAILED, NOT_CREATED, NOT_LOADED, NOT_SHOWN, APPLIED_TO, MADE, REQUESTED, UNKNOWN = (
    "whole", "part", "none", "failed", "not-created", "not-loaded", "not-shown", "applied", "created", "requested", "unknown",
)  # fmt: skip
COMPILED_FOR, NOT_COMPILED_FOR, CRASHED = "compiled", "not-compiled", "crashed"
NOT_RUN, RUN_FAILED, EXCEPTION, FELL_BACK = "not-run", "run-failed", Event.EXCEPTION, Event.FELL_BACK
"""Outcomes of a delegate.

``compiled`` and ``not-compiled``: the log is from a compiler, and shows no run. ``not-loaded``: the runtime could not load or
prepare the model, whether or not a delegate was applied. ``not-shown``: the benchmark ran to its end, but the log has no line
of a delegate. ``crashed``: the process crashed before the log shows what the delegate did. ``created``, ``requested`` and
``unknown``: the log shows no later stage.
"""


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
    is_planned: bool = False
    """True if the counts are only a plan: the log does not show that the delegate then created its kernels."""


def counts_and_outcome(log: DeviceLog, names: set[str], *, is_requested: bool) -> tuple[tuple[Count, ...], str]:
    """Return the counts in the lines of a delegate, and its outcome."""
    counts = tuple(counts_of(log, names))
    outcome = _failure(log, names) or outcome_of(log, counts) or outcome_without_counts(log, names)
    return counts, REQUESTED if outcome == UNKNOWN and is_requested else outcome


def is_planned(log: DeviceLog, names: set[str], counts: tuple[Count, ...], *, prints_kernels: bool) -> bool:
    """Return whether no line shows that kernels were created for the counted nodes. A driver may fail after the counts.

    ``prints_kernels``: the delegate prints a line as soon as it has created its kernels.
    """
    after_kernels = (Event.KERNELS, Event.INTERFACE_USED, Event.APPLIED, Event.MEASURED, Event.EXECUTED)
    steps = [error for error in log.errors if error.kind == Event.BUILD_ERROR or "next" in error.values]
    builds = [place for error in (*steps, *statements_by(log, names, Event.VENDOR_ERROR)) for place in error.places]
    last = max([replacement.place for replacement in log.replacements if plain_name(replacement.kernel) in names], default=0)
    sources = {count.source for count in counts}
    if "table" in sources or (sources != {"split"} and max(builds, default=0) <= last and not prints_kernels):
        return False
    later = log.places(*after_kernels) + [line.place for line in log.applications] + [line.place for line in log.replacements]
    return max(later, default=0) <= max([last, *builds]) and log.times.is_empty


def with_failed_run(log: DeviceLog, names: set[str], delegate: LogDelegate) -> LogDelegate:
    """Return a delegate, as applied if it failed while the model ran."""
    if delegate.outcome in (FAILED, NOT_CREATED) or not any(
        is_while_running(error) and plain_name(error.values.get("op") or error.values.get("name", "")) in names
        for error in log.errors
    ):
        return delegate
    outcome = APPLIED_TO if delegate.outcome in (MADE, REQUESTED, UNKNOWN, NOT_LOADED) else delegate.outcome
    return replace(delegate, outcome=outcome, failed_running=True, is_planned=False)


def other_failure(log: DeviceLog, delegate: Delegate, names: set[str]) -> str:
    """Return a failure that certainly is of a delegate, or "". A default delegate that refuses dynamic tensors takes nothing."""
    lines = without_errors_of_others(log, names, is_certain=True)
    lines = replace(lines, statements=lines.statements_of(*kinds_with("is_certain")))
    if delegate.is_applied_by_default and lines.dynamic_tensor is not None:
        return FAILED if log.has(Event.DEFAULT_LEFT_OUT) else NONE
    return _failure(lines, names)


def _failure(log: DeviceLog, names: set[str]) -> str:
    if log.statements_of(Event.ALL_REVERTED):
        return FAILED
    kernels = [error for error in log.errors if error.kind == Event.NODE_ERROR and plain_name(error.values["op"]) in names]
    if kernels and all(map(is_while_running, kernels)) and not log.has(Event.RESTORED, Event.NOT_APPLIED):
        return ""  # a kernel that ran belongs to a delegate that was applied
    applied = [application for application in log.applications if plain_name(application.provider) in names]
    if applied:
        return FAILED if applied[-1].outcome == "failed" else ""
    log = without_errors_of_others(log, names, is_certain=False)
    if log.has(Event.RESTORED, Event.NOT_APPLIED) or log.dynamic_tensor is not None:
        return FAILED
    made = _last_success(log, names)
    errors = [error for error in log.errors if not (is_while_running(error) or _is_overcome(error, made))]
    is_replaced = any(plain_name(replacement.kernel) in names for replacement in log.replacements)
    immutable = log.statements_of(Event.IMMUTABLE_ERROR)
    is_default = not names - {""} or plain_name(APPLIED_BY_DEFAULT) in names
    has_dispatch = any(part in name for name in names for part in (DISPATCH, "qnn"))
    if (
        (not is_replaced and immutable and not LogMeanings(log).is_benign(immutable[0]))
        or (is_default and not is_replaced and log.has(Event.DEFAULT_LEFT_OUT) and not log.has(Event.APPLIED))
        or any(_says_failed(names, error) for error in errors)
        or (has_dispatch and any("source" in failure.values for failure in fatal_failures(log)))
    ):
        return FAILED
    is_made_before = any(plain_name(name) in names for name in log.created)
    absent = [line for line in log.statements_of(Event.NOT_CREATED) if not (is_made_before and "guess" in line.values)]
    if any(plain_name(line.values.get("name", "")) in names - {""} or names & _words(line.line) for line in absent):
        return NOT_CREATED
    counted = max(log.places(Event.OWN_COUNT), default=0)
    if any(
        "fatal" in error.values and plain_name(error.values.get("name", "")) in names and max(error.places, default=0) >= counted
        for error in errors
        if error.kind == Event.VENDOR_ERROR
    ):
        return FAILED
    if log.has(Event.LIBRARY_ERROR):
        return FAILED if statements_by(log, names, Event.OWN_COUNT) else NOT_CREATED  # only a created delegate counts nodes
    is_made = not (names - {""}) or not any("what" in error.values for error in errors if error.kind == Event.LOAD_ERROR)
    has_ended = bool(log.statements_of(Event.BENCHMARK_FAILED)) and bool(names - {""})
    return "" if is_made and not has_ended else FAILED


def _last_success(log: DeviceLog, names: set[str]) -> int:
    """Return the number of the last line in which a delegate reports that it has an interface or kernels, or 0."""
    lines = statements_by(log, names, Event.INTERFACE_USED, Event.KERNELS)
    made = [line for line in lines if line.values.get("count", "1") != "0" and not line.line.startswith(BEGINNING)]
    return max([place for line in made for place in line.places], default=0)


def _is_overcome(error: Statement, success: int) -> bool:
    """Return whether a delegate went on after an error, for example with another interface."""
    return "says_failed" in KINDS[error.kind].traits and bool(error.places) and max(error.places) < success


def _says_failed(names: set[str], error: Statement) -> bool:
    if error.kind == Event.NODE_ERROR:
        return plain_name(error.values["op"]) in names
    is_named = plain_name(error.values.get("name", "")) in names - {""}
    return (
        error.kind in (Event.KERNEL_ERROR, Event.PREPARATION_ERROR, Event.FLEX_ERROR)
        or (is_named and "says_failed" in KINDS[error.kind].traits and "next" not in error.values)
        or (error.kind == Event.FAILURE and FORMS["not-compiled"].search(error.line) is not None)
    )


def _words(line: str) -> set[str]:
    """Return each word and each pair of successive words of a line, as plain names, because a name can have two words."""
    words = line.split()
    return {plain_name(word) for word in (*words, *map("".join, pairwise(words)))} - {""}


def fatal_failures(log: DeviceLog) -> list[Statement]:
    """Return the errors of LiteRT 2 after which no node runs."""
    return [statement for statement in log.statements_of(Event.FAILURE) if FORMS["fatal"].search(statement.line)]


def outcome_of(log: DeviceLog, counts: tuple[Count, ...]) -> str:
    """Return the outcome that the most conclusive line with counts shows, or "" if there is none."""
    by_source = {count.source: count for count in counts}
    if "application" in by_source:
        by_line = {application.line: application.outcome for application in log.applications}
        return {"completely": WHOLE, "partially": PART, "not": NONE, "failed": FAILED}[by_line[by_source["application"].line]]
    lines = [count for count in counts if count.source == "replacement"]
    own = [count for count in counts if count.source == "own" and count.total and not lines]
    if len(own) > 1 and any(count.delegated for count in own):  # of several subgraphs
        return WHOLE if all(count.delegated == count.total for count in own) else PART
    for count in lines[-1:] or [by_source[source] for source in ("own", "split") if source in by_source][:1]:
        if count.delegated == 0:
            return NONE
        if count.total is None and count.partitions is None:
            return APPLIED_TO
        is_all = count.delegated == count.total if count.total is not None else count.partitions == 1
        return WHOLE if is_all and all(line.delegated == line.total for line in lines[:-1]) else PART
    if "table" in by_source:
        table = by_source["table"]
        if table.on_cpu or (table.kernels and any(order.lacks_rows for order in log.run_orders.values())):
            return PART
        return WHOLE if all(count.is_complete for count in counts if count.source == "table") else APPLIED_TO
    if "kernels" in by_source:
        return APPLIED_TO if by_source["kernels"].kernels else NONE
    return ""


def outcome_without_counts(log: DeviceLog, names: set[str]) -> str:
    """Return the outcome that lines without counts show."""
    made_kernels = [line for line in statements_by(log, names, Event.INTERFACE_USED) if "-based API" in line.line]
    if made_kernels or statements_by(log, names, Event.APPLIED):
        return APPLIED_TO
    named = [line for line in statements_by(log, names, *kinds_with("says_made")) if "name" in line.values]
    if named or any(plain_name(name) in names for name in log.created):
        return MADE
    return REQUESTED if any("made" in line.values for line in statements_by(log, names, Event.INTERFACE_USED)) else UNKNOWN
