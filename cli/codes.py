"""Explanations and upstream sources of the codes in a report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from delegate_sim.apps.manifest import CODES as APP
from delegate_sim.delegates.ahead_of_time import EXPLAINED as VELA
from delegate_sim.delegates.base import Delegate
from delegate_sim.diagnosis.causes.change import SUGGESTIONS
from delegate_sim.gate import GATE
from delegate_sim.micro.target import EXPLAINED as MICRO
from delegate_sim.rules.book import RuleBook
from delegate_sim.rules.kinds import Explanation
from delegate_sim.rules.rule import Source
from delegate_sim.versions.explanation import FEATURES


def explanations(delegates: tuple[Delegate, ...]) -> dict[str, Explanation]:
    """Return the meaning of every code that a report can contain."""
    suggestions = {
        code: Explanation(suggestion.title, "A change that delegate-sim diagnose suggests.", suggestion.change)
        for code, suggestion in SUGGESTIONS.items()
    }
    known = {**GATE, **FEATURES, **suggestions, **MICRO, **VELA, **APP}
    for delegate in delegates:
        known |= {code: kind.explanation for code, kind in delegate.kinds.items()}
    return known


def sources(delegates: tuple[Delegate, ...], codes: Collection[str]) -> dict[str, tuple[Source, ...]]:
    """Return the upstream sources of the checks, keyed by code. Codes that no rule uses are left out."""
    places: dict[str, list[tuple[Source, str]]] = {}
    for book in [book for delegate in delegates for book in delegate.rule_books]:
        for code, source, op in _sources(book, codes):
            places.setdefault(code, []).append((source, op))
    return {code: shared_sources(own) for code, own in places.items()}


def shared_sources(places: Iterable[tuple[Source, str]]) -> tuple[Source, ...]:
    """Return sources without duplicates.

    If several operators use different branches of an upstream function, the function is listed once without a branch.
    """
    branches: dict[Source, set[Source]] = {}
    for source, op in places:
        branches.setdefault(source, set()).add(source.of_operator(op))
    return tuple([own.pop() if len(own) == 1 else source for source, own in branches.items()])


def _sources(book: RuleBook[Any], codes: Collection[str]) -> Iterator[tuple[str, Source, str]]:
    """Yield (code, source, operator) of every check with one of the codes.

    The operator is empty for the check that refuses operators without a rule.
    """
    wanted = {kind.name: code for code, kind in book.explained.items() if code in codes}
    if not wanted:
        return
    for unknown in (book.unknown, book.unknown_custom):
        if unknown is not None and unknown.kind.name in wanted:
            yield wanted[unknown.kind.name], book.source, ""
    for op, rule in book.rules.items():
        for check in rule.checks:
            if check.kind.name in wanted:
                yield wanted[check.kind.name], book.source_of(check, rule), op
