"""Totals of a scan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..results.report.measures import TAKEN
from .journal import ScanRows
from .schema import RUNS, names

_MOST_ERRORS = 5


class TargetTotals:
    """Totals for one target: numbers of models by result, and sums of their measures."""

    def __init__(self) -> None:
        self.models = self.without_answer = self.whole = self.untouched = self.failing = 0
        self.nodes = self.delegated_nodes = 0
        self.multiply_adds = self.delegated_multiply_adds = 0

    @property
    def in_part(self) -> int:
        """Number of models that are delegated in part."""
        return self.models - self.without_answer - self.whole - self.untouched - self.failing


class Totals:
    """Totals of the rows of ``runs`` that pass through ``count``. The rows are not kept."""

    def __init__(self) -> None:
        self.rows = 0
        self.models = 0
        self.targets: dict[str, TargetTotals] = {}
        self.failed_models = 0
        self.errors: list[str] = []
        """One error for each of the first few failed models."""

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
        target.models += 1
        if row["error"]:
            target.without_answer += 1
            return
        target.nodes += row["nodes"]
        target.multiply_adds += row["multiply_adds"]
        if row["outcome"] != TAKEN and row["outcome"] != "none":
            target.failing += 1
            return
        target.whole += 0 < row["nodes"] == row["delegated_nodes"]
        target.untouched += not row["delegated_nodes"]
        target.delegated_nodes += row["delegated_nodes"]
        target.delegated_multiply_adds += row["delegated_multiply_adds"]
