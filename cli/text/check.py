"""The result of a check as text: the number of cases for each status, then each case that needs attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.foundation.printable import command_line, typed_path
from delegate_sim.gate.budgets import MEASURE_CODES
from delegate_sim.gate.check import Checked
from delegate_sim.gate.results import BETTER, FAILED, MISSING_ENTRY, PASSED, STALE_ENTRY, UNREADABLE, Case
from delegate_sim.results.compare.model_changes import NodeChange
from delegate_sim.results.report.findings import NOTE, Finding
from delegate_sim.results.report.outcome_words import words_of

from ..console.layout import counted, item_list, message, name
from ..console.terminal import Line
from .elements import findings as findings_text
from .elements.findings import change_text, changes_alike
from .elements.measures import measures_text, work_text
from .elements.paragraphs import HEADING, HINT, indented, more_lines, paragraph

_STYLES = {"error": "red", "warning": "yellow", "note": ""}
_STATUS_STYLES = {FAILED: "bold red", UNREADABLE: "bold red", BETTER: "bold green"}
_FINDINGS_SHOWN = 20
_CHANGES_SHOWN = 10
_SHARED = (MISSING_ENTRY, STALE_ENTRY)
"""Codes of findings that cases of one model share."""


def check_lines(checked: Checked, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the counts and the cases of a check.

    Without ``verbose``, passed cases without findings or notes are left out, each hint stands once, the changes of a model stand
    with its first case, and models without an entry, or entries without a model, share one line for each model at the end.
    """
    results = checked.results
    counts = [f"{results.count(status):,} {status}" for status in (PASSED, BETTER, FAILED, UNREADABLE) if results.count(status)]
    models = len({case.model for case in results.cases})
    targets = len({case.target for case in results.cases})
    what = f"{counted(models, 'model')} on {counted(targets, 'target')}"
    yield Line(f"{what}: {', '.join(counts) or 'nothing to check'}", HEADING)
    yield from paragraph(results.selected_only, width, "", "") if results.selected_only else ()
    text = _CheckText(width, verbose)
    for case in results.cases:
        yield from text.case_lines(case)
    if not verbose:
        yield from _stale_lines(results.cases, width)
        yield from _missing_lines(results.cases, width)
    if (update := checked.update) is not None:
        changes = f"{update.added:,} added, {update.changed:,} changed, {update.dropped:,} removed"
        yield Line(f"Baseline: {changes if update.is_written else 'unchanged'}", HEADING)


def _stale_lines(cases: Sequence[Case], width: int) -> Iterator[Line]:
    stale = [(case, finding) for case in cases for finding in case.findings if finding.code == STALE_ENTRY]
    alike: dict[tuple[str, str], list[str]] = {}
    for case, finding in stale:
        alike.setdefault((case.path, finding.message), []).append(case.target)
    for (path, text), targets in alike.items():
        line = f"error: {STALE_ENTRY}: {path} on {item_list(targets, width)}: {text}"
        yield from indented(message(line), width, "", _STYLES["error"])
    for hint in dict.fromkeys([finding.hint for _, finding in stale]):
        yield Line(f"  hint: {message(hint)}", HINT)
        yield Line("")


def _missing_lines(cases: Sequence[Case], width: int) -> Iterator[Line]:
    missing = [case for case in cases if any(finding.code == MISSING_ENTRY for finding in case.findings)]
    models: dict[str, list[str]] = {}
    for case in missing:
        models.setdefault(case.path, []).append(case.target)
    for path, targets in models.items():
        text = f"error: {MISSING_ENTRY}: {path} has no entry in the baseline for {item_list(targets, width)}"
        yield from indented(message(text), width, "", _STYLES["error"])
    if missing:
        # If other cases have a result in the baseline, the command must not change it.
        paths = [] if len(missing) == len(cases) else map(typed_path, models)
        yield Line(f"  hint: {message(command_line(['check', '--update', *paths]))}", HINT)
        yield Line("")


class _CheckText:
    """The text of the cases. It remembers the hints, and the models whose changes it has listed."""

    def __init__(self, width: int, verbose: bool) -> None:
        self._width, self._verbose = width, verbose
        self._hints: set[str] = set()
        self._changed: set[tuple[str, tuple[NodeChange, ...]]] = set()

    def case_lines(self, case: Case) -> Iterator[Line]:
        """Yield the lines of a case: the result, what got worse, the findings, the changes of the model, and the notes."""
        width, verbose = self._width, self._verbose
        findings = [finding for finding in case.findings if verbose or finding.code not in _SHARED]
        if not (verbose or findings or case.notes or (case.status != PASSED and not case.findings)):
            return
        yield Line(f"{message(case.path)} on {name(case.target)}: {case.status}", _STATUS_STYLES.get(case.status, HEADING))
        if case.measures is not None:
            work = work_text(case.measures, case.compute)
            text = f"{measures_text(case.measures, words_of(case.delegate), has_share=True)}{work and f'{work} delegated'}"
            yield from indented(text, width, "  ")
        if verbose:
            yield from (Line(f"  {message(log_line)}") for log_line in case.log_lines)
        yield from self._finding_lines(findings, is_failed=case.status == FAILED)
        if case.changes:
            yield from self._change_lines(case)
        for note in case.notes:
            yield from indented(f"note: {message(note)}", width, "  ")
        yield Line("")

    def _finding_lines(self, findings: Sequence[Finding], is_failed: bool) -> Iterator[Line]:
        width, verbose = self._width, self._verbose
        consequences = [] if verbose else [own for own in findings if own.level == NOTE and own.code in MEASURE_CODES]
        if consequences:
            title = "worse than the baseline" if is_failed else "note"
            text = "; ".join([finding.message for finding in consequences])
            yield from indented(f"{title}: {message(text)}", width, "  ")
        others = [finding for finding in findings if finding not in consequences]
        groups = [[finding] for finding in others] if verbose else findings_text.alike(others)
        shown = groups if verbose else groups[:_FINDINGS_SHOWN]
        for members in shown:
            first = members[0]
            text = f"{first.level}: {first.code}: {findings_text.finding_text(members)}"
            yield from indented(message(text), width, "  ", _STYLES[first.level])
            hint = findings_text.finding_hint(members)
            if hint and (verbose or hint not in self._hints):
                self._hints.add(hint)
                yield from indented(message(f"hint: {hint}"), width, "    ", HINT)
        yield from more_lines(sum(map(len, groups[len(shown) :])), "finding")

    def _change_lines(self, case: Case) -> Iterator[Line]:
        title = f"  changed in the model since the baseline: {counted(len(case.changes), 'change')}"
        if case.status == PASSED and not self._verbose:
            yield Line(f"{title} (--verbose lists all)")
            return
        if (case.model, case.changes) in self._changed and not self._verbose:
            yield Line(f"{title}, as above")
            return
        self._changed.add((case.model, case.changes))
        groups = changes_alike(case.changes)
        yield Line(title)
        shown = groups if self._verbose else groups[:_CHANGES_SHOWN]
        for members in shown:
            yield from indented(message(change_text(members)), self._width, "    ")
        yield from more_lines(sum(map(len, groups[len(shown) :])), "change", "    ")
