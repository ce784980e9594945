"""Changes of a delegate's rules between runtime releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...delegates.base import Delegate
from ...foundation.columns import LIST, YES_OR_NO, Column, Declared, within
from ...releases.catalogue import Release
from ...rules.book import CHECK, ListedCheck
from ...rules.rule import Check, OpRule


@dataclass(frozen=True, slots=True)
class RuleChange:
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
