"""A comparison as JSON or text, with the measured times of side A if there are any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from delegate_sim.results.compare.comparison import Comparison

from ...console.terminal import Line, width
from ..compare import compare_lines

if TYPE_CHECKING:
    from delegate_sim.timing.measured import Timing


def timed_entry(comparison: Comparison, timings: Sequence[Timing]) -> dict[str, Any]:
    """Return a comparison as plain data."""
    entry = comparison.to_dict()
    if timings:
        from delegate_sim.timing.fixes import change_entry

        entry |= change_entry(comparison, timings)
    return entry


def timed_lines(comparison: Comparison, timings: Sequence[Timing], verbose: bool, words: str = "") -> Iterator[Line]:
    """Yield a comparison as text."""
    yield from compare_lines(comparison, width(), verbose, words)
    if timings:
        yield from change_lines(comparison, timings, verbose)


def change_lines(comparison: Comparison, timings: Sequence[Timing], verbose: bool) -> Iterator[Line]:
    """Yield where the time of side A goes, and what the change to side B can save; nothing without timings."""
    if not timings:
        return
    from delegate_sim.timing.fixes import comparison_bounds

    from .bounds import bounds_lines
    from .times import timing_lines

    yield from timing_lines(timings, [comparison.a.run], width(), verbose)
    yield Line("")
    yield Line("What the change from A to B can save", "bold")
    yield from bounds_lines(comparison_bounds(comparison, timings), comparison.a.run.delegate.name, width(), "  ")
