"""Diagnoses and tables of releases as comma-separated values: a row for each model and target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from delegate_sim.diagnosis.diagnosis import Diagnosis
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.results.compare.release_table import ReleaseTable

from ..models import Unreadable
from ..text.diagnoses import diagnosis_labels
from ..text.releases import FAMILIES
from .comma_separated import cell, sheet

if TYPE_CHECKING:
    from delegate_sim.timing.bounds import TimeBounds
    from delegate_sim.timing.fixes import FixTimes

_COST = ("outcome", "nodes", "delegated_nodes", "multiply_adds", "delegated_multiply_adds", "partitions", "delegate_kernels",
         "border_bytes")  # fmt: skip
_DIAGNOSED = (
    *("model", "target", "delegate", "runtime"),
    *_COST,
    *("causes", "cause", "title", "codes", "cause_nodes", "suggestion", "change"),
    *[f"without_first_{name}" for name in _COST],
    *[f"without_all_{name}" for name in _COST],
    *("measured_ms", "cause_measured_ms", "saves_at_most_ms", "all_save_at_most_ms"),
    *("error", "not_simulated"),
)
_RELEASED = (
    *("model", "target", "delegate"),
    *[f"loads_from_{family}" for family in FAMILIES],
    *("fully_delegated_from", "fully_delegated_to", "newest", "newest_outcome", "newest_nodes", "newest_delegated_nodes"),
    *("error", "not_simulated"),
)


def diagnosis_sheet(diagnoses: Sequence[tuple[Diagnosis, FixTimes | None]], unreadable: Sequence[Unreadable]) -> str:
    """Return CSV with a row for each diagnosis (with the first cause), and a row for each model that cannot be read."""
    labels = diagnosis_labels([diagnosis for diagnosis, _ in diagnoses])
    rows = [_diagnosis(label, diagnosis, times) for label, (diagnosis, times) in zip(labels, diagnoses, strict=True)]
    return sheet(_DIAGNOSED, [*rows, *_errors(unreadable, len(_DIAGNOSED))])


def releases_sheet(tables: Sequence[tuple[str, str, ReleaseTable]], unreadable: Sequence[Unreadable]) -> str:
    """Return CSV with a row for each model and target, and a row for each model that cannot be read.

    A table comes with the path of the model and the name of the target.
    """
    rows = [_released(path, label, table) for path, label, table in tables]
    return sheet(_RELEASED, [*rows, *_errors(unreadable, len(_RELEASED))])


def _diagnosis(label: str, diagnosis: Diagnosis, times: FixTimes | None) -> list[object]:
    target = diagnosis.target
    row: list[object] = [cell(diagnosis.model.path or ""), cell(label), target.delegate.name, str(target.release)]
    row += _cost(diagnosis.now)
    row.append(len(diagnosis.findings))
    if diagnosis.findings:
        first = diagnosis.findings[0]
        cause = first.cause
        row += map(cell, (cause.name, cause.title, ", ".join(cause.codes)))
        row += [len(cause.nodes), cause.suggestion, cell(cause.change), *_cost(first.alone)]
    else:
        row += [""] * (6 + len(_COST))
    return [*row, *_cost(diagnosis.without_all), *_times(diagnosis, times), "", _not_simulated(diagnosis.not_simulated)]


def _times(diagnosis: Diagnosis, times: FixTimes | None) -> list[object]:
    """Return four times: the total of the first profile, the time of the first cause, and two upper bounds.

    The bounds limit the time that fixing the first cause, or fixing all causes, can save.
    """
    if times is None:
        return [""] * 4
    first = diagnosis.findings[0] if diagnosis.findings else None
    cause = None if first is None else times.of_cause(first)
    return [
        round(times.timings[0].total_ms, 6),
        round(cause.ms, 6) if cause is not None and cause.is_known else "",
        _at_most(None if first is None else times.of(first)),
        _at_most(times.of_all()),
    ]


def _at_most(bounds: TimeBounds | None) -> object:
    return "" if bounds is None or not bounds.is_whole else round(bounds.at_most_ms, 6)


def _cost(cost: Cost | None) -> list[object]:
    if cost is None:
        return [""] * len(_COST)
    measures = cost.measures
    counts = (measures.nodes, measures.delegated_nodes, cost.total_multiply_adds, cost.multiply_adds)
    return [measures.outcome, *counts, measures.partitions, measures.delegate_kernels, measures.border_bytes]


def _released(path: str, label: str, table: ReleaseTable) -> list[object]:
    first = [table.first_loading.get(family) for family in FAMILIES]
    newest = table.rows[-1]
    return [
        *(cell(path), cell(label), table.delegate.name),
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
