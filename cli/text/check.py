"""The result of a check as text: the number of cases for each status, then each case that needs attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.gate.budgets import MEASURE_CODES
from delegate_sim.gate.check import Checked, Update
from delegate_sim.gate.results import BETTER, FAILED, PASSED, UNREADABLE, Case
from delegate_sim.results.compare.model_changes import NodeChange
from delegate_sim.results.report.findings import NOTE, Finding
from delegate_sim.results.report.measures import TAKEN, Measures
from delegate_sim.results.report.outcome_words import words_of

from ..console.layout import counted, message, name, share
from ..console.terminal import Line
from .elements import findings as findings_text
from .elements.findings import change_text, changes_alike
from .elements.measures import measures_text
from .elements.paragraphs import HEADING, HINT, indented, more_lines, paragraph

_STYLES = {"error": "red", "warning": "yellow", "note": ""}
_STATUS_STYLES = {FAILED: "bold red", UNREADABLE: "bold red", BETTER: "bold green"}
_FINDINGS_SHOWN = 20
_CHANGES_SHOWN = 10


def check_lines(checked: Checked, width: int, verbose: bool) -> Iterator[Line]:
    """Return the counts and the cases of a check. Passed cases without findings or notes are listed only if ``verbose``."""
    results = checked.results
    counts = [f"{results.count(status):,} {status}" for status in (PASSED, BETTER, FAILED, UNREADABLE) if results.count(status)]
    models = len({case.model for case in results.cases})
    targets = len({case.target for case in results.cases})
    what = f"{counted(models, 'model')} on {counted(targets, 'target')}"
    yield Line(f"{what}: {', '.join(counts) or 'nothing to check'}", HEADING)
    yield from paragraph(results.selected_only, width, "", "") if results.selected_only else ()
    for case in results.cases:
        if verbose or case.status != PASSED or case.findings or case.notes:
            yield from _case_lines(case, width, verbose)
    if checked.update is not None:
        yield Line(_update_text(checked.update), HEADING)


def _update_text(update: Update) -> str:
    if not update.is_written:
        return "Baseline: unchanged"
    return f"Baseline: {update.added:,} added, {update.changed:,} changed, {update.dropped:,} removed"


def _case_lines(case: Case, width: int, verbose: bool) -> Iterator[Line]:
    yield Line(f"{message(case.path)} on {name(case.target)}: {case.status}", _STATUS_STYLES.get(case.status, HEADING))
    if case.measures is not None:
        yield from indented(_measures_text(case, case.measures), width, "  ")
    if case.findings or verbose:
        yield from (Line(f"  {message(log_line)}") for log_line in case.log_lines)
    yield from _finding_lines(case.findings, width, verbose)
    if case.status == PASSED and not verbose:
        if case.changes:
            changed = counted(len(case.changes), "change")
            yield Line(f"  changed in the model since the baseline: {changed} (--verbose lists all)")
    else:
        yield from _change_lines(case.changes, width, verbose)
    for note in case.notes:
        yield from indented(f"note: {message(note)}", width, "  ")
    yield Line("")


def _measures_text(case: Case, measures: Measures) -> str:
    words = words_of(case.delegate)
    text = measures_text(measures, words, has_share=True)
    compute = case.compute
    if compute is None or not compute.multiply_adds or measures.outcome != TAKEN:
        return text
    return f"{text}, {share(compute.delegated_multiply_adds, compute.multiply_adds)} of multiply-adds delegated"


def _finding_lines(findings: Sequence[Finding], width: int, verbose: bool) -> Iterator[Line]:
    consequences = [] if verbose else [own for own in findings if own.level == NOTE and own.code in MEASURE_CODES]
    others = [finding for finding in findings if finding not in consequences]
    groups = [[finding] for finding in others] if verbose else findings_text.alike(others)
    shown = groups if verbose else groups[:_FINDINGS_SHOWN]
    for members in shown:
        first = members[0]
        text = f"{first.level}: {first.code}: {findings_text.finding_text(members)}"
        yield from indented(message(text), width, "  ", _STYLES[first.level])
        hint = findings_text.finding_hint(members)
        if hint:
            yield from indented(message(f"hint: {hint}"), width, "    ", HINT)
    yield from more_lines(sum(map(len, groups[len(shown) :])), "finding")
    if consequences:
        yield from indented(f"note: {message('; '.join([finding.message for finding in consequences]))}", width, "  ")


def _change_lines(changes: Sequence[NodeChange], width: int, verbose: bool) -> Iterator[Line]:
    """Yield a list of changes in the model. If several nodes have the same change, they share a line."""
    if not changes:
        return
    groups = changes_alike(changes)
    yield Line(f"  changed in the model since the baseline: {counted(len(changes), 'change')}")
    shown = groups if verbose else groups[:_CHANGES_SHOWN]
    for members in shown:
        yield from indented(message(change_text(members)), width, "    ")
    yield from more_lines(sum(map(len, groups[len(shown) :])), "change", "    ")
