"""Totals of a scan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .journal import ScanRows
from .schema import MEASURES, NUMBER_COUNTS, RUNS, names
from .target_totals import TargetTotals

_MOST_ERRORS = 5


class Totals:
    """Totals of the rows of ``runs`` that pass through ``count``. The rows are not kept."""

    def __init__(self) -> None:
        self.rows = 0
        self.models = 0
        self.targets: dict[str, TargetTotals] = {}
        self.failed_models = 0
        self.errors: list[str] = []
        """The errors of the first few failed models."""

    def count(self, rows: ScanRows) -> Iterator[tuple[Any, ...]]:
        """Yield the rows unchanged, and add them to the totals. The rows of one model must be consecutive."""
        keys = names(RUNS)
        model = failed = None
        for values in rows:
            row = dict(zip(keys, values, strict=True))
            self.rows += 1
            self.models += row["model"] != model
            model = row["model"]
            if row["error"] and model != failed:
                failed = model
                self.failed_models += 1
                self.errors += [row["error"]] if len(self.errors) < _MOST_ERRORS else []
            self._add(row)
            yield values

    def _add(self, row: dict[str, Any]) -> None:
        target = self.targets.setdefault(row["target"], TargetTotals())
        if row["error"]:
            target.add_unanswered()
        else:
            target.add(*[row[key] for key in (*MEASURES, *NUMBER_COUNTS)])
