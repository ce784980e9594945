"""The request and the result of a sweep: a row for each conversion, as plain data and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..conversion.calibration import DRAWN, Calibration
from ..conversion.convert import Conversion
from ..conversion.converters import Limits
from ..conversion.settings import Settings
from ..conversion.sources import SourceModel
from ..diagnosis.advice.plain_fix import PlainFix, plain_fix, search_fix
from ..diagnosis.examiner import Cost
from ..errors import FixError, OptionError
from ..foundation.columns import (
    INTEGER,
    LIST,
    NUMBER,
    OBJECT,
    YES_OR_NO,
    Column,
    Table,
    entry,
    group,
    keys,
    renamed,
    values,
    within,
)
from ..foundation.files import open_input, write_chunks
from ..foundation.printable import printable
from ..graph.effort import Effort
from ..model.reader import load
from ..results.report.display import Shown
from ..results.report.measures import MEASURES, measure_columns
from ..results.report.tables import run_columns
from ..runtime.target import LabeledTarget
from .rows import MAX_DIFFERENCE, SweepRow, best_for, best_for_all, excluded_for
from .search import Shapes

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


class _SweptRow(NamedTuple):
    row: SweepRow
    conversion: Conversion
    targets: dict[str, Cost]
    max_difference: float


def _entries(sweep: Swept) -> list[_SweptRow]:
    labels = [target.label for target in sweep.targets]
    return [
        _SweptRow(row, row.conversion, dict(zip(labels, row.costs, strict=False)), sweep.asked.max_difference)
        for row in sweep.rows
    ]


def _failure(row: SweepRow) -> dict[str, str] | None:
    failure = row.conversion.failure
    if failure is not None:
        return {"kind": failure.kind.value, "line": failure.line}
    return {"kind": "unreadable", "line": row.unreadable} if row.unreadable else None


_COST_ENTRY = (
    *within("measures", [*MEASURES, Column("delegated_share", NUMBER)]),
    Column("multiply_adds", INTEGER, source="total_multiply_adds"),
    Column("delegated_multiply_adds", INTEGER, source="multiply_adds"),
    Column("multiply_add_share", NUMBER),
)
ROW_ENTRY = (
    Column("number", INTEGER, source="row.number"),
    *within("conversion", [Column("converter", source="route.name"), Column("version", source="route.version")]),
    *(Column("settings", source="conversion.settings.name"), Column("origin", OBJECT, source="row.origin")),
    Column("failure", OBJECT, source=lambda own: _failure(own.row)),
    *within("row", [Column("is_best", YES_OR_NO), Column("same_as", INTEGER)]),
    Column("size", INTEGER, unit="bytes", source=lambda own: own.conversion.size if own.row.is_model else None),
    Column("sha256", source=lambda own: own.conversion.digest if own.row.is_model else None),
    *within("conversion", [Column("seconds", NUMBER, unit="s", digits=3), Column("is_kept", YES_OR_NO)]),
    Column("targets", OBJECT, source=lambda own: {label: entry(_COST_ENTRY, cost) for label, cost in own.targets.items()}),
    group(
        "difference",
        *within("row", [Column("error", NUMBER), Column("why_unknown", source="no_difference")]),
        Column("samples", INTEGER, source=lambda own: own.row.difference.samples if own.row.difference else 0),
        Column("why_not_best", source=lambda own: own.row.why_not_best(own.max_difference) if own.row.is_model else ""),
    ),
    Column("code", source="conversion.code"),
)
"""The columns of a conversion in JSON. ``error`` is a share of an output's largest value; None if it is unknown."""
TARGET = (Column("name", source="label"), *run_columns("delegate", "options", "runtime", "defaults"))
_SOURCE = (Column("name", source="text"), Column("kind"), Column("sha256", source="digest"))


@dataclass(frozen=True, repr=False)
class Swept(Shown):
    """The conversions that were tried, in order, with their results on the targets.

    ``to_dict`` returns the result as plain data with a stable schema.
    """

    document = "sweep"
    columns = (
        Column("source", OBJECT, parts=_SOURCE),
        group(
            "calibration",
            *within("asked.calibration", [Column("is_drawn", YES_OR_NO), Column("words")]),
            Column("rows", LIST, source=lambda own: [row.number for row in own.models if row.conversion.settings.calibrates]),
        ),
        *within("asked", [Column("max_difference", NUMBER), Column("everything", YES_OR_NO)]),
        Column("interrupted", YES_OR_NO, source="is_interrupted"),
        Column("targets", LIST, parts=TARGET),
        Column("rows", LIST, source=_entries, parts=ROW_ENTRY),
        Column("best_for", OBJECT, source=lambda own: own._best()),
    )

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

    def _best(self) -> dict[str, int | None]:
        best = {target.label: self.best_for(target.label) for target in self.targets}
        return {label: None if row is None else row.number for label, row in best.items()}

    def _place(self, target: str) -> int:
        labels = [one.label for one in self.targets]
        if target not in labels:
            raise OptionError(f"there is no target {target!r}; choose from {', '.join(labels)}")
        return labels.index(target)

    def _line(self) -> str:
        best = sum([row.is_best for row in self.rows])
        counts = f"{len(self.rows):,} conversions tried, {len(self.models):,} models, {best:,} best"
        return f"{self.source.text}: {counts}{', interrupted' if self.is_interrupted else ''}"

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        wide = tuple([f"{target.label}_{name}" for target in self.targets for name in _NUMBERS])
        return {
            "rows": lambda: Table((*keys(_ROW), *wide), list(_rows(self))),
            "targets": lambda: Table(("row", "settings", "target", *_NUMBERS), list(_target_rows(self))),
        }

    def _shown(self) -> Mapping[str, Sequence[str]]:
        shares = [f"{target.label}_multiply_add_share" for target in self.targets]
        return {"rows": ("row", "best", "converter", "settings", "failure", *shares)}


def _rows(result: Swept) -> Iterator[tuple[Any, ...]]:
    for row in result.rows:
        numbers = [values(_COST, cost) for cost in row.costs] or [(None,) * len(_NUMBERS)] * len(result.targets)
        yield (*values(_ROW, row), *[number for target_numbers in numbers for number in target_numbers])


def _target_rows(result: Swept) -> Iterator[tuple[Any, ...]]:
    for row in result.models:
        for target, cost in zip(result.targets, row.costs, strict=True):
            yield (row.number, row.conversion.settings.name, target.label, *values(_COST, cost))


_BLOCK = 1 << 20


def write_best(result: Swept, target: str, path: str, *, replaces: bool = False) -> int:
    """Write the best model for a target to a file, and return the model's size in bytes.

    Raises FixError if there is no best model, if the file exists and ``replaces`` is false, or if the file cannot be written.
    Raises OptionError for an unknown target.
    """
    row = result.best_for(target)
    if row is None:
        raise FixError(f"nothing is written, because no conversion both runs on {target} and is accurate enough")
    try:
        write_chunks(path, _blocks(row.conversion.path), replaces=replaces)
    except OSError as error:
        raise FixError(error.strerror or str(error), printable(path)) from error
    return row.conversion.size


def _blocks(path: str) -> Iterator[bytes]:
    with open_input(path) as file:
        while block := file.read(_BLOCK):
            yield block
