"""Results as comma-separated values, for a spreadsheet: a row for each finding, and one for each case without any."""

from __future__ import annotations

import csv
import io
import re

from delegate_sim.gate.results import Case, Results
from delegate_sim.results.findings import Finding
from delegate_sim.results.measures import Measures

from ..layout import message

_NUMBERS = ("partitions", "delegate_kernels", "fallback_nodes", "delegated_share", "border_bytes")
_COLUMNS = (
    *("model", "target", "delegate", "runtime", "status", "outcome"),
    *_NUMBERS,
    *[f"baseline_{number}" for number in _NUMBERS],
    *("code", "level", "subgraph", "node", "op", "tensor", "message", "hint"),
)
_FORMULA = re.compile(r"(^|;)(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a spreadsheet would take text for a formula; some divide cells at semicolons, whatever the quotes."""


def render(results: Results) -> str:
    """Return a header and the rows, quoted where needed."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for case in results.cases:
        start = _case(case)
        writer.writerows([*start, *_finding(finding)] for finding in case.findings or (None,))
    return output.getvalue()


def _case(case: Case) -> list[object]:
    return [
        *map(_cell, (case.model, case.target, case.delegate, case.runtime, case.status)),
        _cell(case.measures.outcome if case.measures is not None else ""),
        *_numbers(case.measures),
        *_numbers(case.baseline),
    ]


def _numbers(measures: Measures | None) -> list[object]:
    if measures is None:
        return [""] * len(_NUMBERS)
    values = [getattr(measures, number) for number in _NUMBERS]
    return [round(value, 6) for value in values]


def _finding(finding: Finding | None) -> list[object]:
    if finding is None:
        return [""] * 8
    place = finding.location
    return [
        *(finding.code, finding.level, place.subgraph, place.node),
        *map(_cell, (place.op, place.name, finding.message, finding.hint)),
    ]


def _cell(text: str) -> str:
    """Return text that a spreadsheet cannot take for a formula."""
    return _FORMULA.sub(r"\1'", message(text))
