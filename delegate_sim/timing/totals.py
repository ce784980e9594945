"""Compare the sum of a profile's rows with the totals in the profile."""

from __future__ import annotations

from collections.abc import Iterator

from ..device.parse.log_contents import DeviceLog

_SHARE = 0.01
_ROUNDING_MS = 0.001
"""Largest rounding error of one row."""


def total_notes(log: DeviceLog, subgraph: int, ms: float) -> Iterator[str]:
    """Yield notes on missing rows, and on a total of the profile that differs from ``ms``.

    ``ms`` is the sum of the rows of a subgraph.
    """
    order, summary = log.run_orders.get(subgraph), log.summaries.get(subgraph)
    rows = 0 if order is None else len(order.rows)
    if order is not None and order.lacks_rows:
        yield "the table lacks rows: its cumulative percentages do not add up"
    elif order is not None and order.is_timed and not order.is_complete:
        yield "the table is cut short"
    if summary is not None and summary.lacks_rows:
        yield "the summary lacks rows: its percentages do not add up to 100"
    expected = log.times.profiled_ms
    if expected is not None and abs(expected - ms) > max(_SHARE * expected, _ROUNDING_MS * max(rows, 1)):
        yield f"the rows add up to {ms:,.3f} ms, but the profile's own total is {expected:,.3f} ms"
    if log.lost_events:
        yield "the profiler dropped events because its buffer was full (--max_profiling_buffer_entries), so times are missing"
