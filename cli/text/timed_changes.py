"""A comparison as JSON or text, with the measured times of side A if there are any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from delegate_sim.results.compare.comparison import Comparison

from ..console.terminal import Line, width
from .compare import compare_lines
from .elements.paragraphs import heading_lines

if TYPE_CHECKING:
    from delegate_sim.timing.fixes import ChangeTimes
    from delegate_sim.timing.measured import Timing


def timed_entry(comparison: Comparison, timings: Sequence[Timing]) -> dict[str, Any]:
    """Return a comparison as plain data."""
    if timings:
        from delegate_sim.timing.fixes import timed_comparison

        comparison = timed_comparison(comparison, timings)
    return comparison.to_dict()


def timed_lines(comparison: Comparison, timings: Sequence[Timing], verbose: bool, words: str = "") -> Iterator[Line]:
    """Yield a comparison as text."""
    yield from compare_lines(comparison, width(), verbose, words)
    if timings:
        from delegate_sim.timing.fixes import ChangeTimes

        yield from change_lines(ChangeTimes(comparison, tuple(timings)), verbose)


def change_lines(times: ChangeTimes, verbose: bool) -> Iterator[Line]:
    """Yield the measured times of side A, and bounds on the time that the change to side B can save."""
    from .timing import bounds_lines, timing_lines

    yield from timing_lines(times.timings, [times.run], width(), verbose)
    yield from heading_lines("What the change from A to B can save")
    yield from bounds_lines(times.bounds, times.run.delegate.name, width(), "  ")
