"""Several diagnoses in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from delegate_sim.diagnosis.diagnosis import Diagnosis, RankedCause
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.results.report.measures import TAKEN, outcome_text
from delegate_sim.results.report.verdict import best_verdict
from delegate_sim.scan.target_totals import TargetTotals

from ..console.layout import counted, message, name, share
from ..console.terminal import Line
from .elements.paragraphs import indented, paragraph
from .elements.tables import table
from .many import model_names

_HEADING = "bold"
_TITLES = ("nodes", "multiply-adds", "kernels", "bytes", "if fixed", "first cause")
_NUMBERS = range(4)
_NARROWEST_MODEL = 24
_BEST = 3
_HINT = "cyan"


def overview_lines(diagnoses: Sequence[Diagnosis], unreadable: Sequence[str], width: int) -> Iterator[Line]:
    """Return the verdict on the best target, or on all models, and a table with a row for each model and delegate.

    A row has the delegated nodes, the first cause, and the result of fixing this cause. The row of a model that cannot be read
    says "unreadable".
    """
    paths = [diagnosis.model.path or "(bytes)" for diagnosis in diagnoses]
    cells = [((path, own.target.delegate.name), _cells(own)) for path, own in zip(paths, diagnoses, strict=True)]
    cells += [((path, ""), ("unreadable", *[""] * 5)) for path in unreadable]
    keys: list[tuple[str, ...]]
    delegates = {diagnosis.target.delegate.name for diagnosis in diagnoses}
    if len({path for (path, _), _ in cells}) == 1:
        verdicts = [best_verdict([diagnosis.run for diagnosis in diagnoses])]
        keys = [("delegate",), *[(delegate,) for (_, delegate), _ in cells]]
        title = f"{model_name(diagnoses[0])}, now and with the first cause fixed"
    else:
        verdicts = TargetTotals.verdicts(_totals(diagnoses))
        # The verdict names a single delegate.
        shown = 1 if len(delegates) < 2 else 2
        names = model_names([path for (path, _), _ in cells], max(_NARROWEST_MODEL, width // (shown + 1)))
        keys = [("model", "delegate")[:shown]]
        keys += [(text, delegate)[:shown] for text, ((_, delegate), _) in zip(names, cells, strict=True)]
        title = f"{counted(len(set(names)), 'model')}, now and with the first cause fixed"
    for verdict in verdicts:
        yield from paragraph(verdict, width, "", "  ", style=_HEADING)
    yield from paragraph(title, width)
    rows = [(*key, *row) for key, row in zip(keys, [_TITLES, *[row for _, row in cells]], strict=True)]
    yield from table(rows, [number + len(keys[0]) for number in _NUMBERS], width, keys=len(keys[0]))


def _totals(diagnoses: Sequence[Diagnosis]) -> dict[str, TargetTotals]:
    """Return the totals of all models by delegate."""
    totals: dict[str, TargetTotals] = {}
    for diagnosis in diagnoses:
        now, measures = diagnosis.now, diagnosis.now.measures
        totals.setdefault(diagnosis.target.delegate.name, TargetTotals()).add(
            measures.outcome, measures.nodes, measures.delegated_nodes, now.total_multiply_adds, now.multiply_adds
        )
    return totals


def best_lines(diagnoses: Sequence[Diagnosis], width: int) -> Iterator[Line]:
    """Yield the causes with the largest gain in delegated multiply-adds, and then in delegated nodes, if only they are fixed."""
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
    """Return the share of multiply-adds and the number of nodes that fixing a cause adds.

    Both numbers are 0 if the model fails or no node is delegated after the fix.
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


def _cells(diagnosis: Diagnosis) -> tuple[str, ...]:
    measures = diagnosis.now.measures
    fails = measures.outcome not in (TAKEN, "none")
    first = diagnosis.findings[0] if diagnosis.findings else None
    without = None if first is None else first.alone
    return (
        outcome_text(measures.outcome) if fails else f"{measures.delegated_nodes:,} of {measures.nodes:,}",
        "-" if fails else multiply_adds_share(diagnosis.now),
        f"{measures.delegate_kernels:,}",
        f"{measures.border_bytes:,}",
        "" if without is None else f"{multiply_adds_share(without)}, {counted(without.measures.delegate_kernels, 'kernel')}",
        "" if first is None else message(first.cause.title),
    )


def multiply_adds_share(cost: Cost) -> str:
    """Return the delegated share of multiply-adds, or ``-`` if there are no multiply-adds."""
    return share(cost.multiply_adds, cost.total_multiply_adds) if cost.total_multiply_adds else "-"
