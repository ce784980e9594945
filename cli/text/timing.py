"""Measured times as text: where the time goes, and what a fix can save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from delegate_sim.foundation.printable import printable
from delegate_sim.timing.measured import NODE, UNMATCHED, CpuTime, Timing, kernel_costs, milliseconds, share_of_time

from ..console.layout import counted, message, name
from ..console.terminal import Line
from .elements.paragraphs import heading_lines, indented, item_lines, more_lines, paragraph, table

if TYPE_CHECKING:
    from delegate_sim.runtime.interpreter import Run
    from delegate_sim.timing.fixes import TimeBounds

_GROUPS_SHOWN = 12
_ROWS_SHOWN = 8


def timing_lines(timings: Sequence[Timing], runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    """Yield the table "where the time goes" of each profile, and the costs of the kernels of the runs."""
    for timing in timings:
        yield from heading_lines(f"Where the time goes ({name(timing.path)})")
        if timing.parts:
            yield from _group_lines(timing, width, verbose)
            yield from _rest_lines(timing, width)
            yield from _unmatched_lines(timing, width, verbose)
        yield from _run_lines(timing, width)
        for run in runs:
            if run.delegate.name in timing.delegates:
                yield from _kernel_lines(run, timing, width, verbose)
        yield from item_lines(timing.notes, width)


def _group_lines(timing: Timing, width: int, verbose: bool) -> Iterator[Line]:
    groups = timing.groups
    shown = groups if verbose else groups[:_GROUPS_SHOWN]
    rows = [("what", "count", "ms", "share")]
    rows += [(name(group.words), f"{group.count:,}", f"{group.ms:,.3f}", _share(group.ms, timing)) for group in shown]
    if rest := groups[len(shown) :]:
        count, ms = sum([group.count for group in rest]), sum([group.ms for group in rest])
        rows.append((f"{len(rest):,} more (--verbose)", f"{count:,}", f"{ms:,.3f}", _share(ms, timing)))
    count = sum([group.count for group in groups])
    rows.append(("total", f"{count:,}", f"{timing.total_ms:,.3f}", _share(timing.total_ms, timing)))
    yield from table(rows, [1, 2, 3], width)


def _share(ms: float, timing: Timing) -> str:
    return share_of_time(ms, timing.total_ms)


def _rest_lines(timing: Timing, width: int) -> Iterator[Line]:
    """Yield a sentence about the time that this model would need if the delegate ran the CPU nodes in no time."""
    count = timing.kernel_count
    if count and timing.ms_of(NODE):
        needed = f"still need {milliseconds(timing.total_ms - timing.ms_of(NODE))} for the {counted(count, 'kernel')}"
        text = f"Even if the delegate ran the CPU nodes in no time, this model would {needed} that already "
        text += f"{'runs' if count == 1 else 'run'} on the delegate"
        text += ", and for the rows that match nothing." if timing.ms_of(UNMATCHED) else "."
        yield from paragraph(text, width, "  ")


def _unmatched_lines(timing: Timing, width: int, verbose: bool) -> Iterator[Line]:
    parts = sorted([part for part in timing.parts if part.kind == UNMATCHED], key=lambda part: -part.ms)
    shown = parts if verbose else parts[:_ROWS_SHOWN]
    for part in shown:
        text = f"not matched: {name(part.op)} {name(part.name) if part.name != part.op else ''}".rstrip()
        yield from indented(f"{text}, {milliseconds(part.ms)}: {message(part.why)}", width, "  ")
    yield from more_lines(len(parts) - len(shown), "row")


def _run_lines(timing: Timing, width: int) -> Iterator[Line]:
    times = timing.times
    named = (
        ("inference", times.inference_ms),
        ("first inference", times.first_ms),
        ("warm-up", times.warmup_ms),
        ("initialization", times.init_ms),
    )
    known = [f"{what} {milliseconds(ms)}" for what, ms in named if ms is not None]
    if known:
        yield from paragraph(f"whole run: {', '.join(known)}", width, "  ")
    if timing.outside_ms:
        text = (
            f"{milliseconds(timing.outside_ms)} of each inference are not in the rows, for example the time for copying and "
            "profiling"
        )
        yield from paragraph(text, width, "  ")


def _kernel_lines(run: Run, timing: Timing, width: int, verbose: bool) -> Iterator[Line]:
    costs = list(kernel_costs(run, timing))
    if not any(ms is not None for _, ms in costs):
        return
    costs.sort(key=lambda cost: -(cost[1] or 0.0))
    shown = costs if verbose else costs[:_ROWS_SHOWN]
    rows = [("partition", "nodes", "ms", "multiply-adds", "bytes in", "bytes out")]
    for kernel, ms in shown:
        counts = (len(kernel.nodes), kernel.multiply_adds, kernel.bytes_in, kernel.bytes_out)
        nodes, compute, bytes_in, bytes_out = [f"{value:,}" for value in counts]
        rows.append((str(kernel.number), nodes, "-" if ms is None else f"{ms:,.3f}", compute, bytes_in, bytes_out))
    yield Line(f"  Kernels of {run.delegate.name}, slowest first")
    yield from table(rows, range(6), width, indent=4)
    yield from more_lines(len(costs) - len(shown), "kernel", "    ")


def cpu_time_text(time: CpuTime, total_ms: float) -> str:
    """Return the measured time of some nodes, and the number of nodes without a measured time."""
    if time.unknown and not time.ms:
        return "no measured time"
    text = f"{milliseconds(time.ms)} measured"
    if total_ms:
        text += f" ({share_of_time(time.ms, total_ms)} of the profile)"
    return text + (f"; no separate time for {counted(time.unknown, 'node')}" if time.unknown else "")


def bounds_lines(bounds: TimeBounds, delegate: str, width: int, indent: str) -> Iterator[Line]:
    """Yield the bounds on the time that a fix can save, each with its reason."""
    if not bounds.nodes and not bounds.gone_kernels:
        yield Line(f"{indent}moves no node off the CPU and merges no kernels")
        return
    leave = "leaves" if bounds.nodes == 1 else "leave"
    parts = [f"{milliseconds(bounds.moved.ms)} of {counted(bounds.nodes, 'node')} that {leave} the CPU"]
    if bounds.gone_ms is not None and bounds.gone_kernels:
        parts.append(f"{milliseconds(bounds.gone_ms)} of {counted(bounds.gone_kernels, 'kernel')} merged into others")
    if bounds.is_whole:
        text = f"saves at most {milliseconds(bounds.at_most_ms)}"
        if bounds.is_limited:
            text += ", the time of the whole model, because no fix can save more. "
            text += f"The times of the parts add up to {milliseconds(bounds.parts_ms)}"
        text += f": {' and '.join(parts)}"
    else:
        missing = []
        if not bounds.moved.is_known:
            missing.append(f"{counted(bounds.moved.unknown, 'node')} of {bounds.nodes:,}")
        if bounds.gone_kernels and bounds.gone_ms is None:
            missing.append(counted(bounds.gone_kernels, "merged kernel"))
        text = f"saves at most: not known, because the profile has no separate time for {' and '.join(missing)}"
        text += f"; measured so far: {' and '.join(parts)}"
    yield from indented(text, width, indent)
    yield from indented("saves at least: not known, because the change may cost time", width, indent)
    if (estimate := bounds.estimate) is not None:
        text = f"estimate: saves {milliseconds(estimate.low_ms)} to {milliseconds(estimate.high_ms)}"
        text += f" on {counted(estimate.nodes, 'node')}, at the rates measured for kernels of {delegate}"
        text += f"; no rate is known for {', '.join(map(name, estimate.without_rate))}" if estimate.without_rate else ""
        yield from indented(text, width, indent)
    else:
        yield from indented(message(f"no estimate: {bounds.no_estimate}"), width, indent)
    if bounds.is_whole and bounds.rest_ms > 0:
        text = f"Even if {delegate} ran these nodes in no time, this model would still need {milliseconds(bounds.rest_ms)}"
        left = bounds.kernels - bounds.gone_kernels
        if left:
            text += f" for {counted(left, 'kernel')}{', and for the nodes that stay on the CPU' if bounds.stays_on_cpu else ''}"
        else:
            text += " for the other nodes, which this profile shows on the CPU"
        yield from indented(printable(f"{text}."), width, indent)
