"""Diagnoses and tables of releases as comma-separated values: a row for each model and target."""

from __future__ import annotations

from collections.abc import Sequence

from delegate_sim.diagnosis.diagnosis import Diagnosis
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.results.compare.release_table import ReleaseTable

from ..models import Unreadable
from ..text.releases import FAMILIES
from .comma_separated import cell, sheet

_COST = ("outcome", "nodes", "delegated_nodes", "multiply_adds", "delegated_multiply_adds", "partitions", "delegate_kernels",
         "border_bytes")  # fmt: skip
_DIAGNOSED = (
    *("model", "delegate", "runtime"),
    *_COST,
    *("causes", "cause", "title", "codes", "cause_nodes", "suggestion", "change"),
    *[f"without_first_{name}" for name in _COST],
    *[f"without_all_{name}" for name in _COST],
    *("error", "not_simulated"),
)
_RELEASED = (
    *("model", "delegate"),
    *[f"loads_from_{family}" for family in FAMILIES],
    *("fully_delegated_from", "fully_delegated_to", "newest", "newest_outcome", "newest_nodes", "newest_delegated_nodes"),
    *("error", "not_simulated"),
)


def diagnosis_sheet(diagnoses: Sequence[Diagnosis], unreadable: Sequence[Unreadable]) -> str:
    """Return CSV with a row for each diagnosis (with the first cause), and a row for each model that cannot be read."""
    rows = [_diagnosis(diagnosis) for diagnosis in diagnoses]
    return sheet(_DIAGNOSED, [*rows, *_errors(unreadable, len(_DIAGNOSED))])


def releases_sheet(tables: Sequence[tuple[str, ReleaseTable]], unreadable: Sequence[Unreadable]) -> str:
    """Return CSV with a row for each model and delegate, and a row for each model that cannot be read."""
    rows = [_released(path, table) for path, table in tables]
    return sheet(_RELEASED, [*rows, *_errors(unreadable, len(_RELEASED))])


def _diagnosis(diagnosis: Diagnosis) -> list[object]:
    target = diagnosis.target
    row: list[object] = [cell(diagnosis.model.path or ""), target.delegate.name, str(target.release), *_cost(diagnosis.now)]
    row.append(len(diagnosis.findings))
    if diagnosis.findings:
        first = diagnosis.findings[0]
        cause = first.cause
        row += map(cell, (cause.name, cause.title, ", ".join(cause.codes)))
        row += [len(cause.nodes), cause.suggestion, cell(cause.change), *_cost(first.alone)]
    else:
        row += [""] * (6 + len(_COST))
    return [*row, *_cost(diagnosis.without_all), "", _not_simulated(diagnosis.not_simulated)]


def _cost(cost: Cost | None) -> list[object]:
    if cost is None:
        return [""] * len(_COST)
    measures = cost.measures
    counts = (measures.nodes, measures.delegated_nodes, cost.total_multiply_adds, cost.multiply_adds)
    return [measures.outcome, *counts, measures.partitions, measures.delegate_kernels, measures.border_bytes]


def _released(path: str, table: ReleaseTable) -> list[object]:
    first = [table.first_loading.get(family) for family in FAMILIES]
    newest = table.rows[-1]
    return [
        *(cell(path), table.delegate.name),
        *["" if row is None else str(row.release) for row in first],
        *((str(table.full[0]), str(table.full[-1])) if table.full else ("", "")),
        *(str(newest.release), newest.measures.outcome, newest.measures.nodes, newest.measures.delegated_nodes),
        *("", _not_simulated(table.not_simulated)),
    ]


def _not_simulated(reasons: Sequence[str]) -> str:
    return cell(" | ".join(reasons))


def _errors(unreadable: Sequence[Unreadable], columns: int) -> list[list[object]]:
    # bounded: the columns of a table
    return [[cell(model.path), *[""] * (columns - 3), cell(model.message), ""] for model in unreadable]
