"""Several diagnoses in one table."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from delegate_sim.diagnosis.advice.commands import fix_command
from delegate_sim.diagnosis.causes.undelegatable_nodes import SPLIT_TAIL
from delegate_sim.diagnosis.diagnosis import Diagnosis, RankedCause
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.foundation.printable import printable
from delegate_sim.results.report.measures import TAKEN, outcome_text
from delegate_sim.results.report.outcome_words import kernels_title, words_of
from delegate_sim.results.report.verdict import best_verdict
from delegate_sim.runtime.target import Target, target_names
from delegate_sim.scan.target_totals import TargetTotals

from ..console.layout import counted, message, name, share
from ..console.terminal import Line
from .elements.paragraphs import indented, paragraph
from .elements.plugins import plugin_lines
from .elements.tables import table
from .many import model_names

_HEADING = "bold"
_LATER = ("if fixed", "first cause")
_NUMBERS = range(4)
_NARROWEST_MODEL = 24
_BEST = 3
_HINT = "cyan"
_NOTHING_LEFT = "Nothing in the models keeps nodes on the CPU."


def overview_lines(diagnoses: Sequence[Diagnosis], unreadable: Sequence[str], width: int) -> Iterator[Line]:
    """Return a verdict, and a table with a row for each model and target.

    The verdict is on the best target, or on all models. A row has the delegated nodes, the first cause, and the result of fixing
    this cause. The row of a model that cannot be read says "unreadable".
    """
    labels = diagnosis_labels(diagnoses)
    rows = [(own.model.path or "(bytes)", label, _cells(own)) for label, own in zip(labels, diagnoses, strict=True)]
    rows += [(path, "", ("unreadable", *[""] * 5)) for path in unreadable]
    is_of_one_model = len({path for path, _, _ in rows}) == 1
    verdicts = [best_verdict([own.run for own in diagnoses])] if is_of_one_model else TargetTotals.verdicts(_totals(diagnoses))
    for verdict in verdicts:
        yield from paragraph(verdict, width, "", "  ", style=_HEADING)
    has_targets = len(set(labels)) > 1  # otherwise the verdict names the target
    titles = ("nodes", "multiply-adds", kernels_title([own.target.delegate.name for own in diagnoses]), "bytes", *_LATER)
    columns = (*([] if is_of_one_model else ["model"]), *(["delegate"] if has_targets else []))
    names = model_names([path for path, _, _ in rows], max(_NARROWEST_MODEL, width // (len(columns) + 1)))
    what = model_name(diagnoses[0]) if is_of_one_model else counted(len(set(names)), "model")
    yield from paragraph(f"{what}, now and with the first cause fixed", width)
    cells: list[tuple[str, ...]] = [(*columns, *titles)]
    for text, (_, target, numbers) in zip(names, rows, strict=True):
        cells.append((*([] if is_of_one_model else [text]), *([target] if has_targets else []), *numbers))
    yield from table(cells, [number + len(columns) for number in _NUMBERS], width, keys=len(columns))
    yield from plugin_lines([own.run for own in diagnoses], width)


def _totals(diagnoses: Sequence[Diagnosis]) -> dict[str, TargetTotals]:
    """Return the totals of all models by target."""
    totals: dict[str, TargetTotals] = {}
    for label, diagnosis in zip(diagnosis_labels(diagnoses), diagnoses, strict=True):
        now, measures = diagnosis.now, diagnosis.now.measures
        totals.setdefault(label, TargetTotals()).add(
            measures.outcome, measures.nodes, measures.delegated_nodes, now.total_multiply_adds, now.multiply_adds
        )
    return totals


def diagnosis_labels(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return the name of each diagnosis's target. Diagnoses of several models share targets."""
    targets: list[Target] = []
    for diagnosis in diagnoses:
        if diagnosis.target not in targets:
            targets.append(diagnosis.target)
    names = target_names(targets)
    return [names[targets.index(own.target)] for own in diagnoses]


def best_lines(diagnoses: Sequence[Diagnosis], width: int) -> Iterator[Line]:
    """Yield the causes with the largest gain if no other cause is fixed.

    A gain is the number of added delegated multiply-adds. Equal gains are ordered by added delegated nodes.
    """
    labels = {id(diagnosis): label for label, diagnosis in zip(diagnosis_labels(diagnoses), diagnoses, strict=True)}
    causes = [
        (diagnosis, finding) for diagnosis in diagnoses for finding in diagnosis.findings if _gain(diagnosis, finding) > (0, 0)
    ]
    best = sorted(causes, key=lambda pair: _gain(*pair), reverse=True)[:_BEST]
    left_out = dict.fromkeys([reason for diagnosis in diagnoses for reason in diagnosis.not_simulated])
    for reason in left_out:
        yield from paragraph(message(f"Not simulated: {reason}"), width)
    if not best:
        if not left_out:
            is_delegated = not any(diagnosis.findings for diagnosis in diagnoses)
            yield from paragraph(_NOTHING_LEFT if is_delegated else "No single change helps.", width)
        return
    yield Line("The best changes" if len(best) > 1 else "The best change", _HEADING)
    several = list(dict.fromkeys([id(diagnosis) for diagnosis, _ in best]))
    best.sort(key=lambda pair: several.index(id(pair[0])))  # changes for one target stay together
    for number, (diagnosis, finding) in enumerate(best, 1):
        share_added, nodes_added = _gain(diagnosis, finding)
        work = f" and {share_added:.0%} of multiply-adds".replace("%", " %") if share_added > 0 else ""
        brings = f"{nodes_added:+,} {'node' if abs(nodes_added) == 1 else 'nodes'}{work}"
        where = f"{model_name(diagnosis)} on {labels[id(diagnosis)]}"
        yield from indented(f"{number}. {where}: {message(finding.cause.title)}: {brings}", width, "")
        yield from advice_lines(diagnosis, finding, width)
    if len(several) < len(best):
        yield from paragraph("Each gain is that of one change alone. Gains for the same target may not add up.", width)


def advice_lines(diagnosis: Diagnosis, finding: RankedCause, width: int) -> Iterator[Line]:
    """Yield the changes that fix a cause: by instructions, and by a pass of ``fix`` if there is one.

    Changes with a simulated result come before instructions with an unknown result. Commands are not wrapped, so that they can
    be copied.
    """
    cause, fix = finding.cause, diagnosis.found_pass(finding)
    command = functools.partial(fix_command, diagnosis.model, diagnosis.target)
    changes = [(f"{cause.suggestion}: {cause.change}", command(SPLIT_TAIL) if SPLIT_TAIL in cause.change else "")]
    if fix is not None:
        is_simulated = any(alternative.helps for alternative in cause.alternatives)
        place = len(changes) if is_simulated or not cause.remedy.accepts else 0
        changes.insert(place, (f"{fix.text}:", command("--pass", fix.pass_.name)))
    for number, (text, line) in enumerate(changes):
        yield from indented(message(f"or {text}" if number else text), width, "   ", _HINT)
        if line:
            yield Line(f"     {printable(line)}", _HINT)


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
        ""
        if without is None
        else f"{multiply_adds_share(without)}, {words_of(without.delegate).short_kernels(without.measures.delegate_kernels)}",
        "" if first is None else message(first.cause.title),
    )


def multiply_adds_share(cost: Cost) -> str:
    """Return the delegated share of multiply-adds, or ``-`` if there are no multiply-adds."""
    return share(cost.multiply_adds, cost.total_multiply_adds) if cost.total_multiply_adds else "-"
