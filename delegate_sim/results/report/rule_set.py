"""The version of a delegate's rule set. If the version is unchanged, verdicts on a model and a target are unchanged."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ...delegates.base import Delegate
from ...rules.book import RuleBook
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
    import json

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
