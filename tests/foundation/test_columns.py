"""Columns of results."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.foundation.columns import (
    INTEGER,
    LIST,
    NUMBER,
    OBJECT,
    SCHEMAS,
    Column,
    Declared,
    Table,
    attributes,
    entry,
    group,
    head,
    keys,
    number_or_text,
    plain,
    positions,
    renamed,
    schema_of,
    values,
    within,
)
from delegate_sim.version import __version__

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


class Level(Enum):
    HIGH = "high"


class Key(NamedTuple):
    subgraph: int
    node: int


@dataclass(frozen=True, slots=True)
class Fields(Declared):
    key: Key
    level: Level


@dataclass(frozen=True, slots=True)
class Whole(Declared):
    document = "search"
    columns = (Column("part", OBJECT), Column("note", is_optional=True), Column("pairs", LIST, parts=positions("op", "times")))

    part: Fields | None
    note: str | None
    pairs: tuple[tuple[str, int], ...]


def test_a_result_is_plain_data_with_its_columns_or_its_fields():
    part = Fields(Key(0, 3), Level.HIGH)
    assert part.to_dict() == {"key": {"subgraph": 0, "node": 3}, "level": "high"}
    found = Whole(part, None, (("ADD", 2),)).to_dict()
    assert found == {**head("search"), "part": part.to_dict(), "pairs": [{"op": "ADD", "times": 2}]}
    assert list(Whole(None, "n", ()).to_dict().items())[2:] == [("part", None), ("note", "n"), ("pairs", [])]


def test_each_list_of_parts_is_a_table():
    result = Whole(None, None, (("ADD", 2),))
    assert result.table() == result.table("pairs") == Table(("op", "times"), [("ADD", 2)])
    with pytest.raises(OptionError, match="has no table 'part'; its tables are pairs"):
        result.to_pandas("part")
    with pytest.raises(OptionError, match="a Fields has no tables"):
        Fields(Key(0, 3), Level.HIGH).to_pandas()


def test_objects_in_a_table_become_columns():
    @dataclass
    class Rows(Declared):
        columns = (Column("rows", LIST, parts=[Column("op"), Column("key", OBJECT, parts=attributes("subgraph", "node"))]),)
        rows: list[SimpleNamespace]

    rows = [SimpleNamespace(op="ADD", key=Key(0, 3)), SimpleNamespace(op="MUL", key=None)]
    assert Rows(rows).table() == Table(("op", "key_subgraph", "key_node"), [("ADD", 0, 3), ("MUL", None, None)])


def test_a_group_has_columns_of_the_same_result():
    assert entry([group("both", *attributes("nodes", type=INTEGER), COLUMNS[2])], RESULT) == {"both": {"nodes": 4, "name": "a"}}


def test_columns_of_parts_are_used_for_each_item():
    result = SimpleNamespace(items=(Key(0, 1), Key(0, 2)), one=None)
    columns = [Column("items", LIST, parts=[Column("node")]), Column("one", OBJECT, parts=[Column("node")])]
    assert entry(columns, result) == {"items": [{"node": 1}, {"node": 2}], "one": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), (True, True), ("a", "a"), ({"a": (1, 2)}, {"a": [1, 2]}), (iter([Level.HIGH]), ["high"])],
)
def test_plain_data(value, expected):
    assert plain(value) == expected


@pytest.mark.parametrize(("number", "expected"), [(1.5, 1.5), (None, None), (float("inf"), "inf"), (float("nan"), "nan")])
def test_numbers_that_json_lacks_are_text(number, expected):
    assert number_or_text(number) == expected


@pytest.mark.parametrize(
    ("document", "keys"),
    [("report", ["schema", "tool"]), ("engine", ["schema", "version"]), ("fix", ["schema", "delegate_sim"]), ("log", ["schema"])],
)
def test_documents_begin_with_their_schema(document, keys):
    assert list(head(document)) == keys


ROOT = Path(__file__).resolve().parents[2]


def test_a_document_starts_with_its_schema_and_the_tool():
    assert head("report") == {"schema": "delegate-sim/report/1", "tool": {"name": "delegate-sim", "version": __version__}}


def test_every_document_is_listed_once_and_by_name():
    assert [schema_of(schema.split("/")[1]) for schema in SCHEMAS] == list(SCHEMAS)


def test_published_schemas_have_the_current_version():
    for path in (ROOT / "docs" / "schemas").iterdir():
        document = path.name.partition(".")[0]
        assert schema_of(document) in json.dumps(json.loads(path.read_text(encoding="utf-8"))), path.name


def test_no_other_module_declares_a_version():
    declared = re.compile(r'^\w+ = "delegate-sim/[a-z-]+/\d+"', re.MULTILINE)
    sources = [path for folder in ("delegate_sim", "cli") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in sources if declared.search(path.read_text(encoding="utf-8"))}
    assert found == {"delegate_sim/gate/baseline_content.py"}  # the first schema, which can still be read
