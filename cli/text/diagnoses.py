"""Several diagnoses in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from delegate_sim.diagnosis.diagnosis import Diagnosis
from delegate_sim.diagnosis.examiner import Cost

from ..console.layout import counted, cut, name, share
from ..console.terminal import Line
from .elements.tables import table

_HEADING = "bold"
_HEADER = ("model", "delegate", "nodes", "multiply-adds", "kernels", "bytes", "first cause", "without it")
_NUMBERS = (2, 3, 4, 5)
_MODEL_WIDTH = 40


def overview_lines(diagnoses: Sequence[Diagnosis], unreadable: Sequence[str], width: int) -> Iterator[Line]:
    """Return a table with a row for each model and delegate: delegated nodes, the first cause, and the result of fixing it.

    The row of a model that cannot be read says "unreadable". Columns that do not fit form a second table.
    """
    yield Line("Now, and without the first cause", _HEADING)
    rows = [_HEADER, *[_row(diagnosis) for diagnosis in diagnoses]]
    rows += [(cut(name(PurePath(path).name), _MODEL_WIDTH), "", "unreadable", *[""] * 5) for path in unreadable]
    yield from map(Line, table(rows, _NUMBERS, width, 6, keys=2))


def model_name(diagnosis: Diagnosis) -> str:
    """Return the file name of the model, safe to print."""
    path = diagnosis.model.path
    return "(bytes)" if path is None else name(PurePath(path).name)


def _row(diagnosis: Diagnosis) -> tuple[str, ...]:
    measures = diagnosis.now.measures
    first = diagnosis.findings[0] if diagnosis.findings else None
    without = None if first is None else first.alone
    return (
        cut(model_name(diagnosis), _MODEL_WIDTH),
        diagnosis.target.delegate.name,
        f"{measures.delegated_nodes:,} of {measures.nodes:,}",
        multiply_adds_share(diagnosis.now),
        f"{measures.delegate_kernels:,}",
        f"{measures.border_bytes:,}",
        "" if first is None else name(first.cause.name),
        "" if without is None else f"{multiply_adds_share(without)}, {counted(without.measures.delegate_kernels, 'kernel')}",
    )


def multiply_adds_share(cost: Cost) -> str:
    """Return the delegated share of multiply-adds, or ``-`` if there are no multiply-adds."""
    return share(cost.multiply_adds, cost.total_multiply_adds) if cost.total_multiply_adds else "-"
