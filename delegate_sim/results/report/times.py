"""Measured times that a result carries. ``delegate_sim/timing`` makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .display import Table


class TimeRow(NamedTuple):
    """The time of a group of rows of a profile: the kernels of a delegate, the CPU nodes of an operator, or the rest."""

    profile: str
    what: str
    number: int
    """The number of nodes or kernels."""
    ms: float
    share: float | None
    """The part of the profile's total, from 0 to 1; None if the total is 0."""


class TimeTotals(NamedTuple):
    """The time of one inference, in the whole profile, in delegate kernels, in CPU nodes, and in rows that match nothing."""

    profile: str
    total_ms: float
    kernel_ms: float
    cpu_ms: float
    unmatched_ms: float


class Times(Protocol):
    """The times of one or several op profiles."""

    def rows(self) -> Iterator[TimeRow]:
        """Yield the times of each profile, largest first in each kind of group."""

    def to_dict(self) -> dict[str, Any]:
        """Return the times as plain data."""


def times_tables(times: Sequence[Times]) -> Mapping[str, Callable[[], Table]]:
    """Return the table of the times; no table without times."""
    if not times:
        return {}
    return {"times": lambda: Table(TimeRow._fields, [tuple(row) for one in times for row in one.rows()])}


def shown_times(times: Sequence[Times]) -> Mapping[str, Sequence[str]]:
    """Return the columns of the times to show in a notebook; nothing without times."""
    return {"times": TimeRow._fields} if times else {}
