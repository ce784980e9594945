"""Bounds on the time that a fix can save, as text."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.foundation.printable import printable
from delegate_sim.timing.bounds import TimeBounds
from delegate_sim.timing.measured import CpuTime
from delegate_sim.timing.words import milliseconds, share_of_time

from ...console.layout import counted, message, name
from ...console.terminal import Line
from ..elements.paragraphs import indented


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
