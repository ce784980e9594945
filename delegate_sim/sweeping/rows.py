"""Rows of a sweep: each conversion's result on every target, its size, and its difference from the float model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..conversion.convert import Conversion
from ..diagnosis.examiner import Cost
from ..foundation.columns import Declared
from ..inference.difference import Difference
from ..results.report.measures import NOT_RUNNING


@dataclass(frozen=True, slots=True)
class Origin(Declared):
    """The reason for trying a conversion. ``row``, ``target`` and ``cause`` are set if a diagnosis suggested the conversion."""

    words: str
    row: int | None = None
    target: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One conversion. ``costs`` has one entry for each target, and is empty if there is no model."""

    number: int
    """The row's number, from 1."""
    conversion: Conversion
    origin: Origin
    costs: tuple[Cost, ...] = ()
    difference: Difference | None = None
    """The difference from the same converter's float model, on the CPU."""
    no_difference: str = ""
    """The reason why the difference is unknown."""
    same_as: int | None = None
    """The number of an earlier row with an identical file."""
    unreadable: str = ""
    """The reason why the converted file cannot be simulated."""
    is_best: bool = False
    """True if the row is one of the best rows (``pareto``)."""
    is_float_model: bool = False
    """True if the row is the float model with which the converter's other rows are compared."""
    left: tuple[tuple[tuple[str, int], ...], ...] = ()
    """For each target, the operators that are not delegated, with their numbers of nodes."""

    @property
    def is_model(self) -> bool:
        """True if there is a model that can be simulated."""
        return bool(self.costs)

    @property
    def failure(self) -> str:
        """The reason why there is no model, in one line; empty if there is a model."""
        if self.conversion.failure is not None:
            return f"{self.conversion.failure.kind.value}: {self.conversion.failure.line}"
        return self.unreadable

    @property
    def error(self) -> float | None:
        """The largest error of an output as a share of that output's largest value; None if the error is unknown."""
        if self.is_float_model:
            return 0.0
        if self.difference is None or self.difference.problem or not math.isfinite(self.difference.relative):
            return None
        return self.difference.relative

    @property
    def is_drawn(self) -> bool:
        """True if a quantizer measured ranges with random numbers instead of real inputs."""
        return self.conversion.settings.calibrates and self.conversion.calibration.is_drawn

    def why_not_best(self, bar: float) -> str:
        """Return the reason why a row cannot be a best row, such as a difference above ``bar``; empty if there is no reason."""
        if self.is_drawn:
            return "was calibrated with random numbers"
        if self.error is None:
            return "has an unknown difference"
        return "" if self.error <= bar else f"has a difference of {percent(self.error)}"

    @property
    def name(self) -> str:
        """The converter and its settings."""
        return f"{self.conversion.route.name}: {self.conversion.settings.name}"


def percent(share: float) -> str:
    """Return a share as a percentage with two digits."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:,.0f} %"


def delegated_share(cost: Cost) -> float:
    """Return the share of delegated multiply-adds; negative if the model does not run.

    The share of delegated nodes is used if the model has no multiply-adds.
    """
    return -1.0 if cost.measures.outcome in NOT_RUNNING else cost.multiply_add_share


MAX_DIFFERENCE = 0.1
"""The default for the largest difference from the float model that a best row may have."""


def pareto(rows: Sequence[SweepRow], bar: float = MAX_DIFFERENCE) -> frozenset[int]:
    """Return the numbers of the best rows.

    The measures are the share of multiply-adds that each target delegates, the size, and the difference from the float model. A
    row is best if every other row is worse in some measure or equal in all measures. Rows that ``why_not_best`` excludes are not
    considered. If several rows have the same file, only the first row is considered.
    """
    points = {row.number: _point(row) for row in rows if row.is_model and row.same_as is None and not row.why_not_best(bar)}
    return frozenset(number for number, point in points.items() if not any(_dominates(other, point) for other in points.values()))


def best_for(rows: Sequence[SweepRow], place: int, bar: float = MAX_DIFFERENCE) -> SweepRow | None:
    """Return the best row for one target, or None if no row qualifies.

    A row qualifies if its model runs on the target and ``why_not_best`` does not exclude the row. The best row has the most
    delegated multiply-adds. Ties are broken by the fewest kernels, then the fewest boundary bytes, the smallest difference and
    the smallest file.
    """
    running = [row for row in _running(rows, place) if not row.why_not_best(bar)]
    return min(running, key=lambda row: _order(row, place), default=None)


def best_for_all(rows: Sequence[SweepRow], bar: float = MAX_DIFFERENCE) -> SweepRow | None:
    """Return the best row for all targets together, or None if no row qualifies.

    A row qualifies if its model runs on every target and ``why_not_best`` does not exclude the row. For each row, the target
    with the smallest delegated share of multiply-adds counts. Ties are broken by the fewest kernels of all targets, then the
    smallest difference and the smallest file.
    """
    running = [
        row
        for row in rows
        if row.is_model and not row.why_not_best(bar) and all(cost.measures.outcome not in NOT_RUNNING for cost in row.costs)
    ]
    return min(running, key=_order_for_all, default=None)


def _order_for_all(row: SweepRow) -> tuple[float, ...]:
    kernels = sum([cost.measures.delegate_kernels for cost in row.costs])
    return (-min(map(delegated_share, row.costs)), kernels, _error(row), row.conversion.size, row.number)


def excluded_for(rows: Sequence[SweepRow], place: int, bar: float = MAX_DIFFERENCE) -> SweepRow | None:
    """Return the excluded row that would be better for a target than the best row, or None if there is no such row."""
    first = min(_running(rows, place), key=lambda row: _order(row, place)[:3], default=None)
    best = best_for(rows, place, bar)
    if first is None or (best is not None and _order(best, place)[:3] <= _order(first, place)[:3]):
        return None
    return first


def _running(rows: Sequence[SweepRow], place: int) -> list[SweepRow]:
    return [row for row in rows if row.is_model and row.costs[place].measures.outcome not in NOT_RUNNING]


def _order(row: SweepRow, place: int) -> tuple[float, ...]:
    cost = row.costs[place]
    measures = cost.measures
    kernels = measures.delegate_kernels if measures.is_delegated else math.inf
    return (-delegated_share(cost), kernels, measures.border_bytes, _error(row), row.conversion.size, row.number)


def _point(row: SweepRow) -> tuple[float, ...]:
    return (*[-delegated_share(cost) for cost in row.costs], row.conversion.size, _error(row))


def _error(row: SweepRow) -> float:
    return math.inf if row.error is None else row.error


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and any(a < b for a, b in zip(one, other, strict=True))
