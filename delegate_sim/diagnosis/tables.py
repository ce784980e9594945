"""Tables of a diagnosis: its causes, and the nodes and partitions of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..results.report.display import Table
from ..results.report.tables import model_name, report_tables, run_words

if TYPE_CHECKING:
    from .diagnose import Cost, Diagnosis

_COLUMNS = (
    "rank", "cause", "title", "codes", "nodes", "operators", "multiply_adds", "found", "needed", "suggestion", "change",
    "delegated_without", "partitions_without", "multiply_adds_without",
)  # fmt: skip


def diagnosis_line(diagnosis: Diagnosis) -> str:
    """Say in one line what was found."""
    first = f"first: {diagnosis.findings[0].cause.title}" if diagnosis.findings else "nothing keeps nodes on the CPU"
    count = len(diagnosis.findings)
    causes = f"{count:,} cause{'' if count == 1 else 's'}"
    return f"{model_name(diagnosis.model)}: {run_words(diagnosis.run)}; {causes}, {first}"


def diagnosis_tables(diagnosis: Diagnosis) -> Mapping[str, Callable[[], Table]]:
    """Return the tables of a diagnosis: causes in their order, and nodes, partitions and numbers of the run as it is."""
    own = report_tables([diagnosis.run])
    return {"causes": lambda: Table(_COLUMNS, list(_cause_rows(diagnosis))), **own}


def _cause_rows(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    for rank, finding in enumerate(diagnosis.findings, 1):
        cause = finding.cause
        operators = ", ".join([f"{op} {count}" for op, count in cause.operators])
        yield (
            rank, cause.name, cause.title, tuple(cause.codes), len(cause.nodes), operators, finding.multiply_adds, cause.found,
            cause.needed, cause.suggestion, cause.change, *_without(finding.alone),
        )  # fmt: skip


def _without(cost: Cost | None) -> tuple[int | None, ...]:
    if cost is None:
        return None, None, None
    return cost.measures.delegated_nodes, cost.measures.partitions, cost.multiply_adds
