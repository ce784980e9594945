"""The request and the result of a sweep: a row for each conversion, as plain data and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..conversion.calibration import DRAWN, Calibration
from ..conversion.convert import Limits
from ..conversion.settings import Settings
from ..conversion.sources import SourceModel
from ..diagnosis.advice.plain_fix import PlainFix, plain_fix, search_fix
from ..diagnosis.examiner import Cost
from ..errors import OptionError
from ..foundation.columns import INTEGER, NUMBER, Column, keys, renamed, values, within
from ..foundation.documents import head
from ..graph.effort import Effort
from ..model.reader import load
from ..results.report.display import Shown, Table
from ..results.report.measures import measure_columns
from ..runtime.interpreter import option_values
from ..runtime.target import LabeledTarget
from .rows import MAX_DIFFERENCE, SweepRow, best_for, best_for_all, excluded_for
from .shapes import Shapes

_ROW = (
    *(Column("row", INTEGER, source="number"), Column("best", source="is_best")),
    *within("conversion.route", [Column("converter", source="name"), Column("version")]),
    *(Column("settings", source="conversion.settings.name"), Column("origin", source="origin.words"), Column("failure")),
    Column("size", INTEGER, unit="bytes", source=lambda row: row.conversion.size if row.is_model else None),
    *(Column("error", NUMBER), Column("why_no_error", source="no_difference")),
    Column("seconds", NUMBER, unit="s", source=lambda row: round(row.conversion.seconds, 1)),
    Column("same_as", INTEGER),
)
"""The columns of a conversion in tables."""
_OUTCOME, _NODES, _DELEGATED, _KERNELS, *_FURTHER = within(
    "measures", measure_columns("outcome", "nodes", "delegated_nodes", "delegate_kernels")
)
_COST = (
    *(_OUTCOME, _NODES, renamed(_DELEGATED, "delegated")),
    Column("delegated_share", NUMBER, source=lambda cost: round(cost.measures.delegated_share, 6)),
    Column("multiply_adds", INTEGER, source="total_multiply_adds"),
    Column("delegated_multiply_adds", INTEGER, source="multiply_adds"),
    Column("multiply_add_share", NUMBER, source=lambda cost: round(cost.multiply_add_share, 6)),
    *(renamed(_KERNELS, "kernels"), *_FURTHER),
)
"""The columns of a conversion's result on a target."""
_NUMBERS = keys(_COST)


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """The settings and options of a sweep.

    The sweep always tries float and the suggested settings. In addition, it tries ``settings``, or all settings if ``everything``
    is true.
    """

    settings: tuple[Settings, ...] = ()
    everything: bool = False
    calibration: Calibration = DRAWN
    limits: Limits = field(default_factory=Limits)
    shapes: Shapes = ()
    """The fixed input shapes."""
    max_difference: float = MAX_DIFFERENCE
    """The largest difference from the float model that a best conversion may have."""


@dataclass(frozen=True, repr=False)
class Swept(Shown):
    """The conversions that were tried, in order, with their results on the targets.

    ``to_dict`` returns the result as plain data with a stable schema.
    """

    source: SourceModel
    targets: tuple[LabeledTarget, ...]
    asked: SweepRequest
    rows: tuple[SweepRow, ...]
    is_interrupted: bool = False

    @property
    def models(self) -> tuple[SweepRow, ...]:
        """The rows that have a model."""
        return tuple([row for row in self.rows if row.is_model])

    def best_for(self, target: str) -> SweepRow | None:
        """Return the best row for the target with this label, or None if no row qualifies.

        A row qualifies under three conditions: the model runs on the target, the difference from the float model is known and at
        most ``max_difference``, and no quantizer was calibrated with random numbers. The best row has the most delegated
        multiply-adds. Ties are broken by the fewest kernels, then the fewest boundary bytes, the smallest difference and the
        smallest file. Raises OptionError if the target is unknown.
        """
        return best_for(self.rows, self._place(target), self.asked.max_difference)

    def best_for_all(self) -> SweepRow | None:
        """Return the best row for all targets together, or None if no row qualifies.

        The target with the smallest delegated share of multiply-adds counts.
        """
        return best_for_all(self.rows, self.asked.max_difference)

    def fix_for(self, target: str) -> PlainFix | None:
        """Return the result of ``delegate-sim fix`` on the best row for a target. None if no pass improves the result."""
        row, place = self.best_for(target), self._place(target)
        if row is None or not row.left or not row.left[place]:
            return None
        model = load(row.conversion.path)
        return plain_fix(search_fix(model, [self.targets[place].target], Effort(model)))

    def excluded_for(self, target: str) -> SweepRow | None:
        """Return the excluded row that would be better for a target than the best row, or None if there is no such row."""
        return excluded_for(self.rows, self._place(target), self.asked.max_difference)

    def _place(self, target: str) -> int:
        labels = [one.label for one in self.targets]
        if target not in labels:
            raise OptionError(f"there is no target {target!r}; choose from {', '.join(labels)}")
        return labels.index(target)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data (schema ``delegate-sim/sweep/3``)."""
        return _sweep_entry(self)

    def _line(self) -> str:
        return _sweep_line(self)

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return sweep_tables(self)

    def _shown(self) -> Mapping[str, Sequence[str]]:
        shares = [f"{target.label}_multiply_add_share" for target in self.targets]
        return {"rows": ("row", "best", "converter", "settings", "failure", *shares)}


def _sweep_entry(result: Swept) -> dict[str, Any]:
    """Return a sweep's result as plain data (schema ``delegate-sim/sweep/3``)."""
    source, calibration = result.source, result.asked.calibration
    best = {target.label: result.best_for(target.label) for target in result.targets}
    return {
        **head("sweep"),
        "source": {"name": source.text, "kind": source.kind.value, "sha256": source.digest},
        "calibration": {
            "is_drawn": calibration.is_drawn,
            "words": calibration.words,
            "rows": [row.number for row in result.models if row.conversion.settings.calibrates],
        },
        "max_difference": result.asked.max_difference,
        "everything": result.asked.everything,
        "interrupted": result.is_interrupted,
        "targets": [_target_entry(target) for target in result.targets],
        "rows": [_row_entry(row, result) for row in result.rows],
        "best_for": {label: None if row is None else row.number for label, row in best.items()},
    }


def _target_entry(sweep_target: LabeledTarget) -> dict[str, Any]:
    label, target = sweep_target
    return {
        "name": label,
        "delegate": target.delegate.name,
        "options": option_values(target.options),
        "runtime": str(target.release),
        "defaults": target.defaults,
    }


def _row_entry(row: SweepRow, result: Swept) -> dict[str, Any]:
    conversion = row.conversion
    return {
        "number": row.number,
        "converter": conversion.route.name,
        "version": conversion.route.version,
        "settings": conversion.settings.name,
        "origin": {"words": row.origin.words, "row": row.origin.row, "target": row.origin.target, "cause": row.origin.cause},
        "failure": _failure_entry(row),
        "is_best": row.is_best,
        "same_as": row.same_as,
        "size": conversion.size if row.is_model else None,
        "sha256": conversion.digest if row.is_model else None,
        "seconds": round(conversion.seconds, 3),
        "is_kept": conversion.is_kept,
        "targets": {target.label: _cost_entry(cost) for target, cost in zip(result.targets, row.costs, strict=False)},
        "difference": _difference_entry(row, result),
        "code": conversion.code,
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


def _difference_entry(row: SweepRow, result: Swept) -> dict[str, Any]:
    """Return the difference from the float model as plain data.

    ``error`` is a share of an output's largest value. If the difference is unknown, ``error`` is None and ``why_unknown`` has the
    reason.
    """
    samples = row.difference.samples if row.difference else 0
    why_not_best = row.why_not_best(result.asked.max_difference) if row.is_model else ""
    return {"error": row.error, "why_unknown": row.no_difference, "samples": samples, "why_not_best": why_not_best}


def _sweep_line(result: Swept) -> str:
    """Return a one-line summary."""
    best = sum([row.is_best for row in result.rows])
    interrupted = ", interrupted" if result.is_interrupted else ""
    return (
        f"{result.source.text}: {len(result.rows):,} conversions tried, {len(result.models):,} models, {best:,} best{interrupted}"
    )


def sweep_tables(result: Swept) -> Mapping[str, Callable[[], Table]]:
    """Return functions that create two tables.

    ``rows`` has a row per conversion, and ``targets`` a row per conversion and target.
    """
    return {
        "rows": lambda: Table((*keys(_ROW), *wide_columns(result)), list(_rows(result))),
        "targets": lambda: Table(("row", "settings", "target", *_NUMBERS), list(_target_rows(result))),
    }


def wide_columns(result: Swept) -> tuple[str, ...]:
    """Return the names of the columns that contain the results of the targets."""
    return tuple([f"{target.label}_{name}" for target in result.targets for name in _NUMBERS])


def _rows(result: Swept) -> Iterator[tuple[Any, ...]]:
    for row in result.rows:
        numbers = [values(_COST, cost) for cost in row.costs] or [(None,) * len(_NUMBERS)] * len(result.targets)
        yield (*values(_ROW, row), *[number for target_numbers in numbers for number in target_numbers])


def _target_rows(result: Swept) -> Iterator[tuple[Any, ...]]:
    for row in result.models:
        for target, cost in zip(result.targets, row.costs, strict=True):
            yield (row.number, row.conversion.settings.name, target.label, *values(_COST, cost))
