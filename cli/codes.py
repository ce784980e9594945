"""Explanations of the codes in a report."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from delegate_sim.delegates.base import Delegate
from delegate_sim.diagnosis.advice.change_kinds import SUGGESTIONS
from delegate_sim.gate.code_explanations import GATE
from delegate_sim.rules.book import RuleBook
from delegate_sim.rules.kinds import Explanation
from delegate_sim.rules.source import Source
from delegate_sim.versions.features import FEATURES


def explanations(delegates: tuple[Delegate, ...]) -> dict[str, Explanation]:
    """Return the meaning of every code that a report can contain."""
    known = {**GATE, **FEATURES, **_suggestions()}
    for delegate in delegates:
        known |= {code: kind.explanation for code, kind in delegate.kinds.items()}
    return known


def sources(delegates: tuple[Delegate, ...], codes: Collection[str]) -> dict[str, tuple[Source, ...]]:
    """Return where upstream the checks are that refuse with these codes, in the rules' order; only codes of rules have any."""
    found: dict[str, dict[Source, None]] = {}
    for book in [book for delegate in delegates for book in delegate.rule_books]:
        for code, source in _sources(book, codes):
            found.setdefault(code, {})[source] = None
    return {code: tuple(places) for code, places in found.items()}


def _sources(book: RuleBook[Any], codes: Collection[str]) -> Iterator[tuple[str, Source]]:
    wanted = {kind.name: code for code, kind in book.explained.items() if code in codes}
    if not wanted:
        return
    for unknown in (book.unknown, book.unknown_custom):
        if unknown is not None and unknown.kind.name in wanted:
            yield wanted[unknown.kind.name], book.source
    for rule in book.rules.values():
        for check in rule.checks:
            if check.kind.name in wanted:
                yield wanted[check.kind.name], book.source_of(check, rule)


def _suggestions() -> dict[str, Explanation]:
    """Return the kinds of change that a diagnosis suggests, as explanations."""
    return {
        code: Explanation(suggestion.title, "A change that delegate-sim diagnose suggests.", suggestion.change)
        for code, suggestion in SUGGESTIONS.items()
    }
