"""Results as comma-separated values, for a spreadsheet: a row for each model and target."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from delegate_sim.foundation.columns import INTEGER, NUMBER, Column, attributes, keys, within
from delegate_sim.gate.results import Case, Results
from delegate_sim.results.report.findings import Finding
from delegate_sim.results.report.measures import MEASURES, measure_columns
from delegate_sim.results.report.multiply_adds import COMPUTE
from delegate_sim.scan.output import marked

from ..console.layout import message
from ..text.elements.findings import alike, finding_hint, finding_text


class _Row(NamedTuple):
    case: Case
    groups: Sequence[Sequence[Finding]]
    first: Finding | None


_NUMBERS = measure_columns("partitions", "delegate_kernels", "fallback_nodes", "delegated_share")
COLUMNS = (
    *within("case", attributes("model", "target", "delegate", "runtime", "status")),
    *within("case.measures", MEASURES[:3]),
    *within("case.compute", COMPUTE),
    *within("case.measures", _NUMBERS),
    *within("case.baseline", _NUMBERS, "baseline_"),
    *within("case.baseline_compute", COMPUTE, "baseline_"),
    Column("findings", INTEGER, source=lambda row: len(row.case.findings)),
    *within("first", attributes("code", "level")),
    *within(
        "first.location", [Column("subgraph", INTEGER), Column("node", INTEGER), Column("op"), Column("tensor", source="name")]
    ),
    Column("message", source=lambda row: finding_text(row.groups[0]) if row.groups else ""),
    Column("hint", source=lambda row: finding_hint(row.groups[0]) if row.groups else ""),
    Column("other_findings", source=lambda row: " | ".join(map(_group, row.groups[1:]))),
    Column("measured_ms", NUMBER, source="case.times.total_ms"),
    *within("case.times", [Column("kernel_ms", NUMBER), Column("cpu_ms", NUMBER)], "measured_"),
    Column("unchecked", source="case.unchecked"),
)


def render(results: Results) -> str:
    """Return the results as CSV: a header, and a row for each case."""
    rows = [_Row(case, groups, groups[0][0] if groups else None) for case in results.cases for groups in [alike(case.findings)]]
    return sheet(keys(COLUMNS), [cells(COLUMNS, row) for row in rows])


def sheet(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a header and rows as CSV."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[cell(value) for value in row] for row in rows])
    return output.getvalue()


def cells(columns: Iterable[Column], result: object) -> list[object]:
    """Return the values of a result. Shares are rounded."""
    return [column.rounded(result) for column in columns]


def cell(value: Any) -> Any:
    """Escape text so that spreadsheets do not interpret it as a formula. Return all other values as they are."""
    return marked(message(value)) if isinstance(value, str) else value


def _group(members: Sequence[Finding]) -> str:
    hint = finding_hint(members)
    return f"{members[0].code}: {finding_text(members)}{f'; what to do: {hint}' if hint else ''}"
