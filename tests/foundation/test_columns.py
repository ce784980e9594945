"""Columns of results."""

from __future__ import annotations

from types import SimpleNamespace

from delegate_sim.foundation.columns import INTEGER, NUMBER, Column, attributes, entry, keys, renamed, values, within

COLUMNS = (
    Column("nodes", INTEGER, "number of nodes", "node"),
    Column("share", NUMBER, source=lambda result: result.part / 3, digits=2),
    Column("name", source="model.name"),
)
RESULT = SimpleNamespace(nodes=4, part=1, model=SimpleNamespace(name="a"), codes=("x", "y"))


def test_values_are_attributes_paths_or_functions():
    assert values(COLUMNS, RESULT) == (4, 1 / 3, "a")


def test_an_absent_part_has_absent_values():
    whole = SimpleNamespace(now=None)
    assert values(within("now", COLUMNS), whole) == (None, None, None)
    assert values(COLUMNS[2:], SimpleNamespace(model=None)) == (None,)


def test_columns_of_a_part_have_a_prefix():
    columns = within("now", COLUMNS, "now_")
    assert keys(columns) == ("now_nodes", "now_share", "now_name")
    assert values(columns, SimpleNamespace(now=RESULT)) == values(COLUMNS, RESULT)


def test_a_renamed_column_has_the_same_value():
    assert entry([renamed(COLUMNS[0], "all")], RESULT) == {"all": 4}


def test_entries_are_plain_data_with_rounded_numbers():
    assert entry((*COLUMNS, *attributes("codes")), RESULT) == {"nodes": 4, "share": 0.33, "name": "a", "codes": ["x", "y"]}


def test_the_title_is_the_plural_of_the_noun():
    assert COLUMNS[0].title == "nodes"


def test_the_json_schema_has_the_meaning():
    assert COLUMNS[0].json_schema() == {"description": "Number of nodes.", "type": "integer", "minimum": 0}
    assert COLUMNS[2].json_schema() == {"type": "string"}
