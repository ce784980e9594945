"""Rules as text."""

from __future__ import annotations

import json

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.micro.preparation import RULES
from delegate_sim_cli.text.rules import OTHERS, _rows

BOOKS = {
    **{name: (["--delegate", name], find_delegate(name).rule_books) for name in DELEGATE_NAMES},
    "micro": (["--micro"], (RULES,)),
}


@pytest.mark.parametrize("name", BOOKS)
def test_every_check_of_every_operator_is_shown(run, name):
    arguments, books = BOOKS[name]
    book = find_delegate(name).rules if name in DELEGATE_NAMES else books[0]
    rules = {**dict(sorted(book.rules.items())), **({OTHERS: book.others} if book.others else {})}
    data = json.loads(run("rules", *arguments, "--format", "json").stdout)
    assert [entry["op"] for entry in data["operators"]] == list(rules)
    text = run("rules", *arguments, COLUMNS="1000").stdout
    markdown = run("rules", *arguments, "--format", "markdown").stdout
    for entry in data["operators"]:
        rule = rules[entry["op"]]
        assert [(check["needed"], check["code"], check["when"]) for check in entry["checks"]] == [
            (check.needed, book.code_of(check.kind), [condition.words for condition in check.conditions]) for check in rule.checks
        ]
        assert f"\n## {entry['op']}\n" in markdown
        for check in rule.checks:
            assert check.demand in text
            assert f"| `{book.code_of(check.kind)}` | [`{book.source_of(check, rule).symbol}`][" in markdown


@pytest.mark.parametrize("name", BOOKS)
def test_rows_of_an_operator_can_be_told_apart(name):
    for book in BOOKS[name][1]:
        for op, rule in book.rules.items():
            rows = [row[1:3] for row in _rows(book, rule)]
            assert len(rows) == len(set(rows)), op
