"""Every kind of line has a row in the table of kinds, every statement is of such a kind, and every reader handles it."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

from delegate_sim.device.parse import error_meanings
from delegate_sim.device.parse.delegate_identity import delegate_named, other_name
from delegate_sim.device.parse.tables import ERRORS, FORMS, KINDS, MEANINGS, Event, kinds_with, rows_of

DEVICE = Path(__file__).resolve().parents[3] / "delegate_sim" / "device"
NAMES = {name: value for name, value in vars(Event).items() if name.isupper()}


SOURCES = "".join([path.read_text(encoding="utf-8") for path in DEVICE.rglob("*.py") if path.name != "tables.py"])
ROWS = rows_of("statements")


def test_every_kind_has_one_row():
    assert len({row["kind"] for row in rows_of("kinds")}) == len(rows_of("kinds"))
    assert len(set(NAMES.values())) == len(NAMES)
    assert set(NAMES.values()) <= set(KINDS)


@pytest.mark.parametrize("table", sorted([path.stem for path in (DEVICE / "parse").glob("*.tsv") if path.stem != "sources"]))
def test_no_row_has_more_cells_than_its_table_has_columns(table):
    assert [row for row in rows_of(table) if "" in row] == []


def test_every_row_is_of_a_known_kind():
    assert {row["kind"] for row in ROWS} <= set(KINDS)
    kinds = {"call", "building-call", "running-call", "code", "compiler-status", *KINDS}
    assert {row["kind"] for row in rows_of("meanings")} <= kinds


def test_every_row_is_printed_by_a_known_part():
    speakers = {row["speaker"] for row in ROWS} - {""}
    assert [name for name in speakers if delegate_named(name) is None and not other_name(name)] == []
    assert {row["age"] for row in ROWS} == {"", "old", "loose"}


def test_every_kind_is_printed():
    """No row and no code yields a kind that is forgotten."""
    printed = {row["kind"] for row in ROWS} | {kind for name, kind in NAMES.items() if f"Event.{name}" in SOURCES}
    assert set(KINDS) == printed


def test_every_kind_is_handled():
    """Code names the kind, or its traits, part, rank or place among the lines that name delegates say how it is handled."""
    named = {kind for name, kind in NAMES.items() if re.search(rf"\bEvent\.{name}\b", SOURCES)}
    told = {kind for kind, row in KINDS.items() if row.traits or row.part or row.conclusive or row.rank is not None}
    assert set(KINDS) - named - told == set()


def test_code_names_only_kinds_and_traits_of_the_table():
    assert [name for name in NAMES if re.search(rf"\bEvent\.{name}\b", SOURCES) is None] == []
    traits = {trait for kind in KINDS.values() for trait in kind.traits}
    explained = pkgutil.get_data("delegate_sim.device.parse", "kinds.tsv").decode()
    assert [trait for trait in traits if f"#   {trait}: " not in explained] == []
    used = {
        *re.findall(r'kinds_with\("(\w+)"\)', SOURCES),
        *re.findall(r'"(\w+)" (?:not )?in KINDS', SOURCES),
        "is_error",
        "is_crash",
    }
    assert used == traits


@pytest.mark.parametrize("kind", sorted(ERRORS))
def test_every_error_is_explained_and_ranked(kind):
    rows = [row for row in ROWS if row["kind"] == kind]
    explained = KINDS[kind].meaning or kind in error_meanings.BY_VALUES or kind in MEANINGS or all(row["meaning"] for row in rows)
    assert explained
    assert KINDS[kind].rank is not None or kind in (Event.CRASH, Event.BENCHMARK_FAILED, Event.NOT_REGISTERED)


def test_only_errors_and_lines_like_errors_have_a_rank():
    assert {kind for kind, traits in KINDS.items() if traits.rank is not None} - ERRORS == {
        Event.COMPILER_ERROR,
        Event.PLAIN_ERROR,
    }


@pytest.mark.parametrize("trait", ["is_turn", "is_before", "is_first", "is_of_process", "is_numerous", "is_behind", "says_made"])
def test_kinds_with_a_trait(trait):
    assert kinds_with(trait)
    assert set(kinds_with(trait)) < set(KINDS)


def test_code_looks_for_each_form():
    named = {*re.findall(r'FORMS\["([a-z-]+)"', SOURCES), *re.findall(r'FORMS\["[a-z-]+" if \w+ else "([a-z-]+)"', SOURCES)}
    assert named == set(FORMS)
    assert len(FORMS) == len(rows_of("forms"))
