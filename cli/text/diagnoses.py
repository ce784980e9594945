"""Several diagnoses in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from delegate_sim.diagnosis.diagnosis import Diagnosis, RankedCause
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.results.report.measures import TAKEN, outcome_text

from ..console.layout import counted, message, name, share
from ..console.terminal import Line
from .elements.paragraphs import indented, paragraph
from .elements.tables import table
from .many import shortened

_HEADING = "bold"
_HEADER = ("model", "delegate", "nodes", "multiply-adds", "kernels", "bytes", "if fixed", "first cause")
_NUMBERS = (2, 3, 4, 5)
_NARROWEST_MODEL = 24
_BEST = 3
_HINT = "cyan"


def overview_lines(diagnoses: Sequence[Diagnosis], unreadable: Sequence[str], width: int) -> Iterator[Line]:
    """Return a table with a row for each model and delegate: delegated nodes, the first cause, and the result of fixing it.

    The row of a model that cannot be read says "unreadable". Columns that do not fit form further tables.
    """
    room = max(_NARROWEST_MODEL, width // 3)
    rows = [_HEADER, *[_row(diagnosis, room) for diagnosis in diagnoses]]
    rows += [(shortened(PurePath(path).name, room), "", "unreadable", *[""] * 5) for path in unreadable]
    if unreadable or len({diagnosis.model.path for diagnosis in diagnoses}) > 1:
        yield Line("Now, and with the first cause fixed", _HEADING)
        yield from table(rows, _NUMBERS, width, keys=2)
    else:
        yield from paragraph(f"{model_name(diagnoses[0])}, now and with the first cause fixed", width, style=_HEADING)
        yield from table([row[1:] for row in rows], [number - 1 for number in _NUMBERS], width)


def best_lines(diagnoses: Sequence[Diagnosis], width: int) -> Iterator[Line]:
    """Yield the causes whose fix alone delegates the most additional multiply-adds.

    The number of additional nodes breaks ties.
    """
    causes = [
        (diagnosis, finding) for diagnosis in diagnoses for finding in diagnosis.findings if _gain(diagnosis, finding) > (0, 0)
    ]
    best = sorted(causes, key=lambda pair: _gain(*pair), reverse=True)[:_BEST]
    left_out = dict.fromkeys([reason for diagnosis in diagnoses for reason in diagnosis.not_simulated])
    for reason in left_out:
        yield from paragraph(message(f"Not simulated: {reason}"), width)
    if not best:
        if not left_out:
            yield from paragraph("No single change helps.", width)
        return
    yield Line("The best changes" if len(best) > 1 else "The best change", _HEADING)
    for number, (diagnosis, finding) in enumerate(best, 1):
        share_added, nodes_added = _gain(diagnosis, finding)
        work = f" and {share_added:.0%} of multiply-adds".replace("%", " %") if share_added > 0 else ""
        brings = f"{nodes_added:+,} {'node' if abs(nodes_added) == 1 else 'nodes'}{work}"
        where = f"{model_name(diagnosis)} on {diagnosis.target.delegate.name}"
        yield from indented(f"{number}. {where}: {message(finding.cause.title)}: {brings}", width, "")
        yield from indented(message(finding.cause.change), width, "   ", _HINT)


def _gain(diagnosis: Diagnosis, finding: RankedCause) -> tuple[float, int]:
    """Return the share of multiply-adds and the number of nodes that the fix of one cause adds.

    Both are 0 if the model fails or nothing is delegated after the fix.
    """
    now, then = diagnosis.now, finding.alone
    if then is None or then.measures.outcome != TAKEN:
        return 0.0, 0
    before = now.multiply_adds / now.total_multiply_adds if now.total_multiply_adds else 0.0
    after = then.multiply_adds / then.total_multiply_adds if then.total_multiply_adds else 0.0
    return after - before, then.measures.delegated_nodes - now.measures.delegated_nodes


def model_name(diagnosis: Diagnosis) -> str:
    """Return the file name of the model, safe to print."""
    path = diagnosis.model.path
    return "(bytes)" if path is None else name(PurePath(path).name)


def _row(diagnosis: Diagnosis, room: int) -> tuple[str, ...]:
    measures = diagnosis.now.measures
    fails = measures.outcome not in (TAKEN, "none")
    first = diagnosis.findings[0] if diagnosis.findings else None
    without = None if first is None else first.alone
    return (
        shortened(model_name(diagnosis), room),
        diagnosis.target.delegate.name,
        outcome_text(measures.outcome) if fails else f"{measures.delegated_nodes:,} of {measures.nodes:,}",
        "-" if fails else multiply_adds_share(diagnosis.now),
        f"{measures.delegate_kernels:,}",
        f"{measures.border_bytes:,}",
        "" if without is None else f"{multiply_adds_share(without)}, {counted(without.measures.delegate_kernels, 'kernel')}",
        "" if first is None else name(first.cause.title),
    )


def multiply_adds_share(cost: Cost) -> str:
    """Return the delegated share of multiply-adds, or ``-`` if there are no multiply-adds."""
    return share(cost.multiply_adds, cost.total_multiply_adds) if cost.total_multiply_adds else "-"
