"""Measured times in words."""

from __future__ import annotations

from .measured import Timing

_GROUPS_SHOWN = 5


def milliseconds(ms: float) -> str:
    """Return a time as text."""
    return f"{ms:,.3f} ms" if abs(ms) < 10 else f"{ms:,.1f} ms"  # three digits are enough


def share_of_time(ms: float, total_ms: float) -> str:
    """Return a share of a total as a percentage. Return a dash if the total is 0."""
    return f"{100 * ms / total_ms:.1f} %" if total_ms else "-"


def timing_sentence(timing: Timing) -> str:
    """Return a sentence about the parts of a profile's time. Names may be unescaped."""
    if not timing.parts:
        inference = timing.times.inference_ms
        return f"{timing.path} has no times of nodes" + (
            "" if inference is None else f"; an inference takes {milliseconds(inference)}"
        )
    groups = sorted(timing.groups, key=lambda group: -group.ms)
    shown = [f"{group.words} {milliseconds(group.ms)}{_share(group.ms, timing)}" for group in groups[:_GROUPS_SHOWN]]
    if rest := groups[_GROUPS_SHOWN:]:
        ms = sum([group.ms for group in rest])
        shown.append(f"{len(rest):,} more {milliseconds(ms)}{_share(ms, timing)}")
    return f"measured in {timing.path}: {milliseconds(timing.total_ms)}; {', '.join(shown)}"


def _share(ms: float, timing: Timing) -> str:
    return f" ({share_of_time(ms, timing.total_ms)})" if timing.total_ms else ""
