"""The request and the result of a sweep: a row for each conversion, as plain data and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..conversion.calibration import DRAWN, Calibration
from ..conversion.convert import Limits
from ..conversion.settings import Settings
from ..conversion.sources import SourceModel
from ..diagnosis.examiner import Cost
from ..errors import OptionError
from ..results.report.display import Shown, Table
from ..runtime.interpreter import option_values
from ..version import __version__
from .rows import SweepRow, SweepTarget, best_for
from .shapes import Shapes

SCHEMA = "delegate-sim/sweep/1"
_ROWS = (
    "row", "best", "converter", "version", "settings", "origin", "failure", "size", "error", "why_no_error", "seconds", "same_as",
)  # fmt: skip
_NUMBERS = (
    "outcome", "nodes", "delegated", "delegated_share", "multiply_adds", "delegated_multiply_adds", "multiply_add_share",
    "kernels", "border_bytes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """What is tried: ``settings`` besides float and what diagnosis points to, or ``everything``."""

    settings: tuple[Settings, ...] = ()
    everything: bool = False
    calibration: Calibration = DRAWN
    limits: Limits = field(default_factory=Limits)
    shapes: Shapes = ()
    """What inputs are fixed to."""


@dataclass(frozen=True, repr=False)
class Swept(Shown):
    """Every conversion that was tried, in that order, and how the targets take it. ``to_dict`` gives the stable form."""

    source: SourceModel
    targets: tuple[SweepTarget, ...]
    asked: SweepRequest
    rows: tuple[SweepRow, ...]
    is_interrupted: bool = False

    @property
    def models(self) -> tuple[SweepRow, ...]:
        """The rows that have a model."""
        return tuple([row for row in self.rows if row.is_model])

    def best_for(self, target: str) -> SweepRow | None:
        """Return the row that suits a target best, by its label: most multiply-adds delegated, then fewest kernels, and so on.

        None where there is no model that runs there. Raises OptionError for a target that was not asked for.
        """
        labels = [each.label for each in self.targets]
        if target not in labels:
            raise OptionError(f"there is no target {target!r}; there are {', '.join(labels)}")
        return best_for(self.rows, labels.index(target))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data (schema ``delegate-sim/sweep/1``)."""
        return _sweep_entry(self)

    def _line(self) -> str:
        return _sweep_line(self)

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return sweep_tables(self)


def _sweep_entry(found: Swept) -> dict[str, Any]:
    """Return a table as plain data (schema ``delegate-sim/sweep/1``)."""
    source, calibration = found.source, found.asked.calibration
    best = {target.label: found.best_for(target.label) for target in found.targets}
    return {
        "schema": SCHEMA,
        "tool": {"name": "delegate-sim", "version": __version__},
        "source": {"name": source.text, "kind": source.kind.value, "sha256": source.digest},
        "calibration": {"is_drawn": calibration.is_drawn, "words": calibration.words},
        "everything": found.asked.everything,
        "interrupted": found.is_interrupted,
        "targets": [_target_entry(target) for target in found.targets],
        "rows": [_row_entry(row, found) for row in found.rows],
        "best_for": {label: None if row is None else row.number for label, row in best.items()},
    }


def _target_entry(sweep_target: SweepTarget) -> dict[str, Any]:
    label, target = sweep_target
    return {
        "name": label,
        "delegate": target.delegate.name,
        "options": option_values(target.options),
        "runtime": str(target.release),
        "defaults": target.defaults,
    }


def _row_entry(row: SweepRow, found: Swept) -> dict[str, Any]:
    made = row.conversion
    return {
        "number": row.number,
        "converter": made.route.name,
        "version": made.route.version,
        "settings": made.settings.name,
        "origin": {"words": row.origin.words, "row": row.origin.row, "target": row.origin.target, "cause": row.origin.cause},
        "failure": _failure_entry(row),
        "is_best": row.is_best,
        "same_as": row.same_as,
        "size": made.size if row.is_model else None,
        "sha256": made.digest if row.is_model else None,
        "seconds": round(made.seconds, 3),
        "is_kept": made.is_kept,
        "targets": {target.label: _cost_entry(cost) for target, cost in zip(found.targets, row.costs, strict=False)},
        "difference": _difference_entry(row),
        "code": made.code,
    }


def _failure_entry(row: SweepRow) -> dict[str, str] | None:
    failure = row.conversion.failure
    if failure is not None:
        return {"kind": failure.kind.value, "line": failure.line}
    return {"kind": "unreadable", "line": row.unreadable} if row.unreadable else None


def _cost_entry(cost: Cost) -> dict[str, Any]:
    return {
        **asdict(cost.measures),
        "delegated_share": cost.measures.delegated_share,
        "multiply_adds": cost.total_multiply_adds,
        "delegated_multiply_adds": cost.multiply_adds,
        "multiply_add_share": cost.multiply_add_share,
    }


def _difference_entry(row: SweepRow) -> dict[str, Any]:
    """Return the difference from the float model; errors are shares of an output's range, absent with the reason."""
    return {"error": row.error, "why_unknown": row.no_difference, "samples": row.difference.samples if row.difference else 0}


def _sweep_line(found: Swept) -> str:
    """Say in one line what was tried and how many conversions there are."""
    best = sum([row.is_best for row in found.rows])
    interrupted = ", interrupted" if found.is_interrupted else ""
    return f"{found.source.text}: {len(found.rows):,} conversions tried, {len(found.models):,} made, {best:,} best{interrupted}"


def sweep_tables(found: Swept) -> Mapping[str, Callable[[], Table]]:
    """Return the tables: a row for each conversion with the numbers of every target, and one for each on each target."""
    return {
        "rows": lambda: Table((*_ROWS, *wide_columns(found)), list(_rows(found))),
        "targets": lambda: Table(("row", "settings", "target", *_NUMBERS), list(_target_rows(found))),
    }


def wide_columns(found: Swept) -> tuple[str, ...]:
    """Return the names of the columns of all targets."""
    return tuple([f"{target.label}_{name}" for target in found.targets for name in _NUMBERS])


def _rows(found: Swept) -> Iterator[tuple[Any, ...]]:
    for row in found.rows:
        made = row.conversion
        own = (
            row.number, row.is_best, made.route.name, made.route.version, made.settings.name, row.origin.words, row.failure,
            made.size if row.is_model else None, row.error, row.no_difference, round(made.seconds, 1), row.same_as,
        )  # fmt: skip
        numbers = [_numbers(cost) for cost in row.costs] or [(None,) * len(_NUMBERS)] * len(found.targets)
        yield (*own, *[number for each in numbers for number in each])


def _target_rows(found: Swept) -> Iterator[tuple[Any, ...]]:
    for row in found.models:
        for target, cost in zip(found.targets, row.costs, strict=True):
            yield (row.number, row.conversion.settings.name, target.label, *_numbers(cost))


def _numbers(cost: Any) -> tuple[Any, ...]:
    measures = cost.measures
    return (
        measures.outcome, measures.nodes, measures.delegated_nodes, round(measures.delegated_share, 6), cost.total_multiply_adds,
        cost.multiply_adds, round(cost.multiply_add_share, 6), measures.delegate_kernels, measures.border_bytes,
    )  # fmt: skip
