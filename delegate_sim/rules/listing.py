"""The rules of a delegate or of TensorFlow Lite Micro as a list, for documentation and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..foundation.columns import LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, within
from .book import RuleBook
from .kinds import Kind
from .rule import Check, OpRule
from .source import Source

if TYPE_CHECKING:
    from ..delegates.options import Option

OTHERS = "any other operator"
"""The heading for operators without a rule."""


class ListedCheck(NamedTuple):
    """A check of an operator's rule. ``source`` is its upstream location, or None if it is not known."""

    book: RuleBook[Any]
    check: Check[Any]
    source: Source | None


CHECK = (
    Column("code", source=lambda listed: listed.book.code_of(listed.check.kind)),
    Column("kind", source=lambda listed: listed.check.native or listed.book.native_of(listed.check.kind)),
    *within("check", attributes("needed", "applies")),
    Column("hint", source=lambda listed: listed.book.hint_of(listed.check)),
    Column("when", LIST, source=lambda listed: [condition.words for condition in listed.check.conditions]),
    *within("check", [Column("introduced", source="introduced.name"), Column("withdrawn", source="withdrawn.name")]),
    Column("source", OBJECT),
)
"""The columns of a check."""


class _Operator(NamedTuple):
    op: str
    rule: OpRule[Any] | None
    accepted_early: ListedCheck | None
    checks: Sequence[ListedCheck]


_OPERATOR = (
    *(Column("op"), Column("accepted", YES_OR_NO, source=lambda listed: listed.rule is not None)),
    *(Column("introduced", source="rule.introduced.name"), Column("accepted_early", OBJECT, parts=CHECK)),
    Column("checks", LIST, parts=CHECK),
)


def _operators(listed: ListedRules) -> Iterator[_Operator]:
    for op, rule in listed.rules.items():
        if rule is None:
            yield _Operator(op, None, None, ())
            continue
        early = None if rule.accepted_early is None else _listed(listed.book, rule.accepted_early, op, rule)
        yield _Operator(op, rule, early, [_listed(listed.book, check, op, rule) for check in rule.checks])


def _listed(book: RuleBook[Any], check: Check[Any], op: str, rule: OpRule[Any]) -> ListedCheck:
    return ListedCheck(book, check, book.source_of(check, rule).of_operator(op))


@dataclass(frozen=True, slots=True)
class ListedRules(Declared):
    """A set of rules, and what the output says about it. ``rules`` has the rules to list, None for a refused operator.

    ``title`` is the subject of "accepts", and ``tester`` tests the conditions. ``kinds`` are the kinds of problem, by code.
    ``selecting`` has the values of the options that selected the rules, and ``note`` names these options in words.
    """

    document = "rules"
    columns = (
        *(Column("delegate", source="name"), Column("options", OBJECT, source="selecting")),
        Column("operators", LIST, source=_operators, parts=_OPERATOR),
    )

    name: str
    title: str
    summary: str
    book: RuleBook[Any]
    kinds: Mapping[str, Kind]
    options: Sequence[Option] = ()
    selecting: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    tester: str = "delegate"
    rules: Mapping[str, OpRule[Any] | None] = field(default_factory=dict)
