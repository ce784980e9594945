"""Results as comma-separated values, for a spreadsheet: a row for each model and target."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from delegate_sim.gate.results import Case, Results
from delegate_sim.results.report.findings import Finding
from delegate_sim.results.report.measures import Measures
from delegate_sim.scan.output import marked

from ..console.layout import message
from ..text.elements.findings import alike, finding_hint, finding_text

_NUMBERS = ("partitions", "delegate_kernels", "fallback_nodes", "delegated_share", "border_bytes")
_COLUMNS = (
    *("model", "target", "delegate", "runtime", "status", "outcome", "nodes", "delegated_nodes"),
    *("multiply_adds", "delegated_multiply_adds"),
    *_NUMBERS,
    *[f"baseline_{number}" for number in _NUMBERS],
    *("baseline_multiply_adds", "baseline_delegated_multiply_adds"),
    *("findings", "code", "level", "subgraph", "node", "op", "tensor", "message", "hint", "other_findings"),
    *("measured_ms", "measured_kernel_ms", "measured_cpu_ms"),
)


def render(results: Results) -> str:
    """Return the results as CSV: a header, and a row for each case."""
    return sheet(_COLUMNS, [[*_case(case), *_findings(case.findings), *_times(case)] for case in results.cases])


def sheet(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a header and rows as CSV. The caller must escape text with ``cell``."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return output.getvalue()


def _case(case: Case) -> list[object]:
    measures = case.measures
    return [
        *map(cell, (case.model, case.target, case.delegate, case.runtime, case.status)),
        *(("", "", "") if measures is None else (cell(measures.outcome), measures.nodes, measures.delegated_nodes)),
        *(case.compute or ("", "")),
        *_numbers(case.measures),
        *_numbers(case.baseline),
        *(case.baseline_compute or ("", "")),
    ]


def _numbers(measures: Measures | None) -> list[object]:
    if measures is None:
        return [""] * len(_NUMBERS)
    values = [getattr(measures, number) for number in _NUMBERS]
    return [round(value, 6) for value in values]


def _findings(findings: Sequence[Finding]) -> list[object]:
    """Return the cells for the first group of findings, and one cell for all other groups."""
    groups = alike(findings)
    if not groups:
        return [0, *[""] * 9]
    first = groups[0][0]
    place = first.location
    others = " | ".join([f"{members[0].code}: {finding_text(members)}{_hint(members)}" for members in groups[1:]])
    return [
        *(len(findings), first.code, first.level, place.subgraph, place.node),
        *map(cell, (place.op, place.name, finding_text(groups[0]), finding_hint(groups[0]), others)),
    ]


def _times(case: Case) -> list[object]:
    times = case.times
    return ["", "", ""] if times is None else [times.total_ms, times.kernel_ms, times.cpu_ms]


def _hint(members: Sequence[Finding]) -> str:
    hint = finding_hint(members)
    return f"; what to do: {hint}" if hint else ""


def cell(text: str) -> str:
    """Escape text so that spreadsheets do not interpret it as a formula."""
    return marked(message(text))
