"""The version of a delegate's rule set. If the version is unchanged, verdicts on a model and a target are unchanged."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...delegates.base import Delegate
from ...foundation.columns import LIST, YES_OR_NO, Column, Declared, within
from ...releases.catalogue import Release
from ...rules.book import CHECK, ListedCheck, RuleBook
from ...rules.rule import Check, OpRule

SEMANTICS = 3
"""The version number of the code that all delegates share. The version of every rule set contains this number.

Increment this number if a change to reading, preparing or partitioning changes the result of any delegate. If a change of code
affects the decisions of only one delegate, increment the number of that delegate (``Delegate.semantics``). A change of rules
needs no new number, because the version contains the rules.

A check with its own function is represented by its wording. A new wording of such a check changes the version.
"""


def rule_set_version(delegate: Delegate) -> str:
    """Return a digest of a delegate's rules and of the version numbers of the code.

    If another program decides about nodes, return the name and version of the program.
    """
    return delegate.software or _digest(delegate)


@functools.cache
def _digest(delegate: Delegate) -> str:
    import hashlib  # imports OpenSSL, which only machine-readable reports need

    content = [SEMANTICS, delegate.semantics, [list(book_data(book)) for book in delegate.rule_books]]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]


def book_data(book: RuleBook[Any]) -> Iterator[list[Any]]:
    """Yield the content of a rule book as plain data: one list for the book, and then one list for each operator.

    The list of an operator has the name, whether the operator is custom, the first release, and the checks in order. A check
    without ``Check.data`` is represented by its wording.
    """
    yield [book.delegate, book.policy.name, sorted(book.explained)]
    for op, rule in sorted(book.rules.items()):
        yield [op, op in book.custom, _text(rule.introduced), *_rule_data(book, rule)]


def _rule_data(book: RuleBook[Any], rule: OpRule[Any]) -> Iterator[list[Any]]:
    for check in rule.all_checks:
        yield [check is rule.accepted_early, *_check_data(book, check)]


def _check_data(book: RuleBook[Any], check: Check[Any]) -> list[Any]:
    return [
        book.code_of(check.kind),
        check.native or book.native_of(check.kind),
        check.data or check.demand,
        [condition.words for condition in check.conditions],
        _text(check.introduced),
        _text(check.withdrawn),
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


class RuleChange(NamedTuple):
    """The changes of the rule of one operator in a release.

    If ``is_new`` is true, the release added the operator to the delegate. ``dropped`` lists removed checks, and ``added`` lists
    new checks. A changed check is in both lists: the old check in ``dropped``, and the new check in ``added``.
    """

    release: Release
    op: str
    is_new: bool
    dropped: tuple[Check[Any], ...]
    added: tuple[Check[Any], ...]


class _Changed(NamedTuple):
    delegate: Delegate
    change: RuleChange

    def checks(self, kind: str) -> list[ListedCheck]:
        """Return the checks in ``dropped`` or ``added``."""
        book, op = self.delegate.rules, self.change.op
        checks: Sequence[Check[Any]] = getattr(self.change, kind)
        return [ListedCheck(book, check, None if check.source is None else check.source.of_operator(op)) for check in checks]


_CHANGE = (
    *within("change", [Column("release", source="release.name"), Column("op"), Column("is_new", YES_OR_NO)]),
    Column("dropped", LIST, source=lambda changed: changed.checks("dropped"), parts=CHECK),
    Column("added", LIST, source=lambda changed: changed.checks("added"), parts=CHECK),
)


@dataclass(frozen=True, slots=True)
class RuleChanges(Declared):
    """Changes of a delegate's rules, the oldest release first."""

    document = "rule-changes"
    columns = (
        Column("delegate", source="delegate.name"),
        Column("changes", LIST, source=lambda own: [_Changed(own.delegate, change) for change in own.changes], parts=_CHANGE),
    )

    delegate: Delegate
    changes: Sequence[RuleChange]


def rule_changes(delegate: Delegate, since: Release | None = None) -> list[RuleChange]:
    """Return the changes of rules in all releases after ``since``.

    The oldest release comes first. By default, return all changes.
    """
    changes = [change for op, rule in sorted(delegate.rules.rules.items()) for change in _changes(op, rule)]
    newer = [change for change in changes if since is None or not since.is_at_least(change.release)]
    return sorted(newer, key=lambda change: (change.release.order, change.op))


def _changes(op: str, rule: OpRule[Any]) -> Iterator[RuleChange]:
    checks = rule.all_checks
    releases = {release for check in checks for release in (check.introduced, check.withdrawn) if release is not None}
    if rule.introduced is not None:
        releases.add(rule.introduced)
    for release in releases:
        yield RuleChange(
            release,
            op,
            release == rule.introduced,
            tuple([check for check in checks if check.withdrawn == release]),
            tuple([check for check in checks if check.introduced == release]),
        )
