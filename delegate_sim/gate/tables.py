"""The tables of what a check found: its cases, and their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..results.report.display import Table

if TYPE_CHECKING:
    from .results import Results

_CASES = (
    "model", "target", "delegate", "runtime", "status", "findings", "outcome", "nodes", "delegated", "delegated_share",
    "partitions", "delegate_kernels", "border_bytes", "notes",
)  # fmt: skip
_FINDINGS = ("model", "target", "level", "code", "subgraph", "node", "op", "name", "message", "hint")


def results_line(results: Results) -> str:
    """Say in one line how many cases there are of each status."""
    counts = {case.status: results.count(case.status) for case in results.cases}
    return f"{results.command}: {', '.join([f'{count:,} {status}' for status, count in counts.items()]) or 'no case'}"


def results_tables(results: Results) -> Mapping[str, Callable[[], Table]]:
    """Return the tables of what was found: a row for each model on each target, and one for each finding."""
    return {
        "cases": lambda: Table(_CASES, list(_case_rows(results))),
        "findings": lambda: Table(_FINDINGS, list(_finding_rows(results))),
    }


def _case_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    for case in results.cases:
        found = case.measures
        numbers: tuple[Any, ...] = (None,) * 7
        if found is not None:
            numbers = (
                found.outcome, found.nodes, found.delegated_nodes, found.delegated_share, found.partitions,
                found.delegate_kernels, found.border_bytes,
            )  # fmt: skip
        place = (case.model, case.target, case.delegate, case.runtime, case.status, len(case.findings))
        yield (*place, *numbers, "; ".join(case.notes))


def _finding_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    for case in results.cases:
        for finding in case.findings:
            place = finding.location
            yield (
                case.model, case.target, finding.level, finding.code, place.subgraph, place.node, place.op, place.name,
                finding.message, finding.hint,
            )  # fmt: skip
