"""Tables of a sweep: one row per conversion, and one per conversion and target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..results.report.display import Table

if TYPE_CHECKING:
    from .sweep import Swept

_ROWS = (
    "row", "best", "converter", "version", "settings", "origin", "failure", "size", "error", "why_no_error", "seconds", "same_as",
)  # fmt: skip
_NUMBERS = (
    "outcome", "nodes", "delegated", "delegated_share", "multiply_adds", "delegated_multiply_adds", "multiply_add_share",
    "kernels", "border_bytes",
)  # fmt: skip


def sweep_line(found: Swept) -> str:
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
