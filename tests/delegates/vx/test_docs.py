"""Options and operators in docs/vx.md, against the options and rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.delegates.vx.delegate import NXP_RULES, RULES
from tests.support.delegates.vx_cases import identity

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "vx.md").read_text(encoding="utf-8")


def section(title):
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(text):
    """The cells of a table, without its head."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return found[2:]


def operators(text):
    return set(re.findall(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b|\b[A-Z]{4,}\b", text)) & set(RULES.rules)


def test_every_option_stands_there():
    names = [name.strip("`") for name, _ in rows(section("Which options have an effect?"))]
    assert names == [option.name for option in find_delegate("vx-nxp").options]


@pytest.mark.parametrize("row", rows(section("Where is VeriSilicon's list of operators wrong?")), ids=lambda row: row[0])
def test_what_the_code_does_where_the_public_list_disagrees(row):
    name, listed, code = row
    is_taken = name.removeprefix("custom operator ") in RULES.rules
    assert code == ("yes" if is_taken else "no")
    assert listed != ("yes" if is_taken else "no")


def test_the_differences_of_nxp_releases():
    newest, older = NXP_RULES["lf-6.6.3"], NXP_RULES["lf-5.15.71"]
    first, _, second = section("How does NXP's variant differ?").partition("lf-5.15.71 (")
    assert operators(first) == differences(RULES, newest)
    assert operators(second) == differences(newest, older)


def differences(book, other):
    """The operators that only the first book has a rule for, or that the other has other checks for."""
    return {op for op in book.rules if op not in other.rules or checks(book, op) != checks(other, op)}


def checks(book, op):
    return [identity(check) for check in book.rules[op].checks]
