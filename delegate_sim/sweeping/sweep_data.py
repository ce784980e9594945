"""A table of conversions as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..runtime.interpreter import option_values
from ..version import __version__

if TYPE_CHECKING:
    from ..diagnosis.diagnose import Cost
    from .rows import SweepRow, SweepTarget
    from .sweep import Swept

SCHEMA = "delegate-sim/sweep/1"


def sweep_entry(found: Swept) -> dict[str, Any]:
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
