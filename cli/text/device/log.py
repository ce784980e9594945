"""The summary of a device log as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, ARM_NN_TITLE, find_delegate
from delegate_sim.device.compare.observed_delegation import OTHER_KERNEL
from delegate_sim.device.parse.applied_target import may_be_older
from delegate_sim.device.parse.compilations import compilation_text
from delegate_sim.device.parse.delegate_identity import (
    DISPATCH,
    chip_names,
    plain_name,
    registered_accelerators,
    registered_interfaces,
)
from delegate_sim.device.parse.error_meanings import explained_notes
from delegate_sim.device.parse.log_contents import Count, DeviceLog
from delegate_sim.device.parse.log_outcomes import (
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
)
from delegate_sim.device.parse.log_runs import NO, YES, NpuStages
from delegate_sim.device.parse.log_runs import NOT_SHOWN as STAGE_NOT_SHOWN
from delegate_sim.device.parse.log_summary import ExplainedLog, LogSummary
from delegate_sim.device.parse.operator_tables import RunTimes
from delegate_sim.timing.measured import milliseconds

from ...console.layout import counted, message, name
from ...console.terminal import Line
from ..elements.paragraphs import BAD, HEADING, fact, paragraph, spans
from .compiler import compiler_lines

_APPLIED_FIRST = (
    ", which the runtime applies by default, had taken these nodes before; so that the delegate is offered all nodes, create "
    "the interpreter with BuiltinOpResolverWithoutDefaultDelegates"
)
_OUTCOMES = {
    COMPILED_FOR: "the model was compiled for this chip",
    NOT_COMPILED_FOR: "the model was not compiled for this chip",
    WHOLE: "delegated the whole graph",
    PART: "delegated part of the graph",
    NONE: "was applied, but took no node",
    FAILED: "could not be applied",
    NOT_CREATED: "could not be created",
    NOT_LOADED: "was not applied: the runtime could not load or prepare the model",
    NOT_SHOWN: "the model ran, but the log shows no delegate: it ran on the CPU",
    CRASHED: "is not known: the process crashed before the log shows it",
    APPLIED_TO: "was applied",
    MADE: "was created",
    REQUESTED: "was requested",
    UNKNOWN: "is not known: the log does not show it",
}
_REFERENCE = " (Android's own code for the CPU)"
_PLANNED = {WHOLE: "planned to delegate the whole graph", PART: "planned to delegate part of the graph"}
_NO_KERNELS = "; the log does not show whether the delegate created its kernels"
_UNKNOWN = {
    COMPILED_FOR: "; the log shows no run",
    APPLIED_TO: "; the log does not show how much of the graph it took",
    MADE: "; the log does not show how many nodes it took",
    REQUESTED: "; the log does not show whether it was applied",
}
"""Outcomes that the log leaves open, with what it does not show."""
_ENDS = {
    CRASHED: "; then the process crashed",
    NOT_RUN: "; then the model could not be loaded or prepared",
    RUN_FAILED: "; an operator failed while the model ran",
    EXCEPTION: "; then the application reported an exception",
    FELL_BACK: "; then the application says that it falls back to the CPU",
    "": "",
}


def summary_lines(explained: ExplainedLog, columns: int, verbose: bool) -> Iterator[Line]:
    """Return the text of the runs in a log. Unused log lines are shown only if ``verbose``."""
    title, summaries = explained.path, explained.runs
    for number, summary in enumerate(summaries, start=1):
        if number > 1:
            yield Line("")
        yield Line(message(title) if len(summaries) == 1 else f"{message(title)}, run {number} of {len(summaries)}", HEADING)
        yield from _summary(summary, columns, verbose)


def unused_lines(log: DeviceLog, columns: int, verbose: bool) -> Iterator[Line]:
    """Yield the number of unused log lines, and the unused lines if ``verbose``."""
    unused, unused_count, line_count = log.unused, log.unused_count, log.line_count
    if not unused_count:
        return
    more = "" if verbose else " (--verbose shows them)"
    yield from paragraph(f"{unused_count:,} of the log's {counted(line_count, 'line')} not used{more}", columns, "  ", "    ")
    if verbose:
        for line in unused:
            yield Line(f"    {message(line)}")
        if len(unused) < unused_count:
            yield Line(f"    ... and {counted(unused_count - len(unused), 'more line')}")


def _summary(summary: LogSummary, columns: int, verbose: bool) -> Iterator[Line]:
    own = summary.delegate
    yield from _result(summary, columns)
    yield from _counts(own, columns)
    for other in summary.others:
        yield from _other(other, own, columns)
    for count in summary.counts:
        yield from fact("counts", message(count.line), columns)
    if summary.operators:
        text = ", ".join(f"{name(op)} {count:,}" for op, count in summary.operators)
        yield from fact("on the CPU", text, columns)
    yield from fact("release", _release(summary), columns)
    for title, values in (
        ("accelerators", registered_accelerators(summary.log)),
        ("interface", registered_interfaces(summary.log)),
        ("device list", [_described(device) for device in summary.log.available_devices]),
        ("chip", chip_names(summary.log.chips)),
        ("chosen devices", [f"{name(d)} {n:,}" for d, n in summary.log.chosen_devices.items()]),
    ):
        if values:
            yield from fact(title, message(", ".join(values)), columns)
    if summary.npu is not None:
        yield from fact("NPU", message(_stages(summary.npu)), columns)
    for text in map(compilation_text, summary.log.runtime.compilations):
        yield from fact("compiled", message(text), columns)
    if summary.parts:
        text = ", ".join(f"{part} ({counted(count, 'line')})" for part, count in summary.parts)
        yield from fact("other lines", text, columns)
    yield from _refusals(summary, columns)
    if summary.errors:
        yield Line("  errors", BAD)
        for error in summary.errors:
            often = f" ({error.times:,} times)" if error.times > 1 else ""
            yield from paragraph(message(f"{error.line}{often}"), columns, "    ", "      ")
            if error.meaning or error.printed_by:
                yield from paragraph(message(error.meaning or _origin(error.printed_by)), columns, "      ", "      ")
    yield from _notes(summary, columns)
    yield from compiler_lines(summary.log.edge_tpu, columns)
    if summary.is_cut:
        yield from paragraph(
            "the log does not show what the delegate did; record it from the start of the run to its end", columns, "  ", "    "
        )
    yield from unused_lines(summary.log, columns, verbose)


def _refusals(summary: LogSummary, columns: int) -> Iterator[Line]:
    if not summary.refusals:
        return
    yield Line("  refused operators")
    for op, reason, times in summary.refusals:
        often = f" ({times:,} times)" if times > 1 else ""
        yield from paragraph(message(f"{op}: {reason}{often}" if reason else f"{op}{often}"), columns, "    ", "      ")
    default = find_delegate(APPLIED_BY_DEFAULT)
    if any(op == f"{OTHER_KERNEL}{default.kernel_name}" for op, *_ in summary.refusals):
        yield from paragraph(f"{default.display_name}{_APPLIED_FIRST}", columns, "      ", "      ")


def _described(device: str) -> str:
    return f"{device}{_REFERENCE}" if device.endswith("-reference") else device


def _origin(components: Sequence[str]) -> str:
    """Say which components may have printed a line whose meaning is not known."""
    if len(components) == 1:
        return f"as in the source code of {components[0]}; its meaning is not known"
    return f"the log does not show which component printed this line ({' or '.join(components)}); its meaning is not known"


def _result(summary: LogSummary, columns: int) -> Iterator[Line]:
    own = summary.delegate
    who = message(own.title) if own.title else "not shown"
    if DISPATCH in plain_name(own.title):
        rest = "; reconcile --accelerators compares it with the simulation"
    else:
        rest = "; only its delegate is simulated" if ARM_NN_TITLE in plain_name(own.title) else ", which is not simulated"
    yield from fact("delegate", who if own.name or not own.title else f"{who}{rest}", columns)
    if summary.log.graph:
        options = [f"{option} {value}" for option, value in summary.options.items()]
        yield from fact("model", message(", ".join([summary.log.graph, *options])), columns)
    has_run = summary.log.times.warmup_ms is not None or summary.log.times.inference_ms is not None
    has_run_without = own.outcome in (FAILED, NOT_CREATED) and not summary.end and has_run
    without = "; the model then ran without it" if has_run_without else ""
    yield from fact("outcome", f"{_outcome(own)}{without}{_ENDS[summary.end]}", columns)
    if summary.cause:
        yield from fact("cause", message(summary.cause), columns)
    if times := [f"{title} {milliseconds(ms)}" for title, ms in _times(summary.log.times) if ms is not None]:
        yield from fact("times", ", ".join(times), columns)


def _stages(stages: NpuStages) -> str:
    words = {NO: "not {}", STAGE_NOT_SHOWN: "{}: not shown", YES: "{}"}
    parts = [] if stages.selected is None else [f"selected {stages.selected:,} of {stages.nodes:,} nodes"]
    states = {"compiled": stages.compiled, "loaded": stages.loaded, "used": stages.used}
    parts += [words[state].format(stage) for stage, state in states.items()]
    return ", ".join(parts) + (f" ({stages.stop})" if stages.stop else "")


def _outcome(delegate: LogDelegate) -> str:
    if delegate.outcome == COMPILED_FOR and any(count.delegated == 0 for count in delegate.counts):
        return "the compiler mapped no operator to this chip; the log shows no run"
    text = (_PLANNED if delegate.is_planned else _OUTCOMES)[delegate.outcome]
    text += f": {numbers}" if delegate.outcome in (WHOLE, PART, APPLIED_TO) and (numbers := _numbers(delegate)) else ""
    text += ", and failed while the model ran" if delegate.failed_running else ""
    return text + (_NO_KERNELS if delegate.is_planned else _UNKNOWN.get(delegate.outcome, ""))


def _numbers(delegate: LogDelegate) -> str:
    """Return the numbers of nodes in the most conclusive kind of line, over all subgraphs, or ""."""
    for source in ("replacement", "own", "split"):
        counts = [count for count in delegate.counts if count.source == source]
        if not counts:
            continue
        if source != "replacement" and len(counts) > 1:
            return ""  # of several models or subgraphs
        delegated = sum([count.delegated or 0 for count in counts])
        total = sum([count.total or 0 for count in counts])
        partitions = [count.partitions for count in counts]
        kernels = [_kernels_before(count) for count in counts]
        own = total - sum(filter(None, kernels))
        of = "" if None in kernels else f" of the other {own:,}" if own < total else f" of {total:,}"
        parts = "" if None in partitions else f" in {counted(sum(filter(None, partitions)), 'partition')}"
        return f"{delegated:,}{of} {'node' if (total or delegated) == 1 else 'nodes'}{parts}"
    return ""


def _kernels_before(count: Count) -> int | None:
    """Return the number of kernels of earlier delegates among the nodes in a line, or None if it is not known."""
    if not count.total or count.delegated is None or count.on_cpu is None:
        return None
    return count.total - count.delegated - count.on_cpu


def _times(times: RunTimes) -> tuple[tuple[str, float | None], ...]:
    warmup = ("warm-up", times.warmup_ms if times.inference_ms is None else None)
    return ("initialization", times.init_ms), ("first inference", times.first_ms), warmup, ("inference", times.inference_ms)


def _notes(summary: LogSummary, columns: int) -> Iterator[Line]:
    if notes := explained_notes(summary.log):
        yield Line("  also in the log", HEADING)
    for line, meaning in notes:
        yield from paragraph(message(line), columns, "    ", "      ")
        if meaning:
            yield from paragraph(message(meaning), columns, "      ", "      ")


def _other(other: LogDelegate, own: LogDelegate, columns: int) -> Iterator[Line]:
    after = f", after {message(own.title)}" if other.is_later and own.title else ""
    yield from fact("then" if other.is_later else "also", f"{message(other.title)}{after}: {_outcome(other)}", columns)
    yield from _counts(other, columns)


def _merged(counts: Sequence[Count]) -> list[tuple[Count, list[str]]]:
    """Return the distinct counts, each with the sources that agree on it. Very many counts are not compared."""
    if len(counts) > _MOST_MERGED:
        return [(count, [count.source]) for count in counts]
    merged: list[tuple[Count, list[str]]] = []
    for count in counts:
        for place, (other, sources) in enumerate(merged):
            pairs = [(getattr(count, name), getattr(other, name)) for name in _COUNTED]
            if (
                count.source not in sources
                and all(a is None or b is None or a == b for a, b in pairs)
                and any(a is not None and a == b for a, b in pairs)
            ):
                both = {name: a if b is None else b for name, (a, b) in zip(_COUNTED, pairs, strict=True)}
                merged[place] = (replace(other, **both), [*sources, count.source])
                break
        else:
            merged.append((count, [count.source]))
    return merged


def _counts(delegate: LogDelegate, columns: int) -> Iterator[Line]:
    has_failed = delegate.outcome == FAILED
    for count, sources in _merged(delegate.counts):
        at_least = "" if count.is_complete else "at least "
        values = (
            ("delegated", count.delegated),
            ("nodes", count.total),
            ("kernels of other delegates", _kernels_before(count) or None),
            ("left" if count.source == "compiled" or has_failed else "on the CPU", count.on_cpu),
            ("partitions", count.partitions),
            ("delegate kernels", count.kernels),
            ("subgraph", count.subgraph),
        )
        given = [(title, number) for title, number in values if number is not None]
        text = ", ".join(f"{title}: {'' if title == 'subgraph' else at_least}{number:,}" for title, number in given)
        if text:
            by = " and ".join(dict.fromkeys([_SOURCES[source] for source in sources]))
            yield from fact("planned" if has_failed else "counts", f"{text} ({by})", columns)


_MOST_MERGED = 200
_COUNTED = ("delegated", "total", "on_cpu", "partitions", "kernels", "subgraph", "is_complete")


_SOURCES = {
    "replacement": "by the runtime",
    "own": "by the delegate",
    "split": "by the delegate",
    "kernels": "by the delegate",
    "application": "by benchmark_model",
    "compiled": "by the compiler plugin",
    "compiler": "by the Edge TPU compiler",
    "vela": "by the compiler",
    "table": "from the table of operators",
}


def _release(summary: LogSummary) -> str:
    version = summary.log.tensorflow_version
    named = f"TensorFlow {version}" if version else ""
    why = "" if named else ", by the wording of its lines"
    if not summary.releases:
        old = "older than all known releases, by the wording or the dates of its lines"
        known = old if summary.log.is_old else "not in the log"
        return f"{named}, which is not a known release" if named else known
    text = ", ".join(spans(list(summary.releases)))
    return f"{text}{', or older than all known releases' if may_be_older(summary.log) else ''}{why}"
