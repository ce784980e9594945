"""Columns of a scan."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.scan import schema
from delegate_sim.scan.output import format_for, read_tables
from delegate_sim.scan.schema import CAUSE_COLUMNS, CAUSES, COLUMNS, FILLED, RUN_COLUMNS, RUNS, declaration, names
from tests.support.scans import scan_models


def test_every_column_is_documented():
    page = (Path(__file__).resolve().parents[2] / "docs" / "scan.md").read_text(encoding="utf-8")
    for column in (*RUN_COLUMNS, *CAUSE_COLUMNS):
        assert f"| `{column.key}` | {column.type} | {column.meaning} |" in page


PAGE = 4096
_INNER, _LEAF = 5, 13

ROW = tuple(["e" if name in ("error", *FILLED[RUNS]) else None for name in names(RUNS)])


def inner_page(child, count):
    """A page of a table whose ``count`` entries all name the same child."""
    entry = struct.pack(">IB", child, 1)
    start = PAGE - len(entry)
    header = struct.pack(">BHHHBI", _INNER, 0, count, start, 0, child)
    return (header + struct.pack(">H", start) * count).ljust(start, b"\0") + entry


def nested_pages(path, levels, leaf_rows):
    """Write a table of runs whose pages name the same page many times at each level."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE}")
        for table in COLUMNS:
            connection.execute(f"CREATE TABLE {table} ({declaration(table)})")
        connection.executemany(f"INSERT INTO {RUNS} VALUES ({', '.join('?' * len(names(RUNS)))})", [ROW])
        connection.commit()
    content = bytearray(Path(path).read_bytes())
    pages = len(content) // PAGE
    leaf = content[PAGE : 2 * PAGE] if leaf_rows else struct.pack(">BHHHB", _LEAF, 0, 0, 0, 0).ljust(PAGE, b"\0")
    inner = [inner_page(pages + 1 + level, 600) for level in range(levels)]
    content[PAGE : 2 * PAGE] = inner.pop()
    content += leaf + b"".join(inner)
    content[28:32] = struct.pack(">I", len(content) // PAGE)
    Path(path).write_bytes(content)


@pytest.mark.parametrize("leaf_rows", [0, 1])
@pytest.mark.parametrize("levels", [1, 8, 17, 30])
def test_pages_that_name_a_page_many_times_are_refused(tmp_path, levels, leaf_rows):
    path = str(tmp_path / "zoo.sqlite")
    nested_pages(path, levels, leaf_rows)
    with pytest.raises((ValueError, sqlite3.DatabaseError), match=r"damaged|malformed"):
        list(read_tables(path)[RUNS])


def test_rows_that_share_the_pages_of_a_long_text_are_refused(tmp_path):
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE}")
        for table in COLUMNS:
            connection.execute(f"CREATE TABLE {table} ({declaration(table)})")
        row = tuple(["e" * 2 * PAGE if name == "error" else value for name, value in zip(names(RUNS), ROW, strict=True)])
        connection.executemany(f"INSERT INTO {RUNS} VALUES ({', '.join('?' * len(row))})", [row, row])
        connection.commit()
    assert list(read_tables(str(path))[RUNS]) == [row, row]
    content = bytearray(path.read_bytes())
    # A cell ends with the number of the first further page, and the cell before it in the list follows it in the page.
    first, _ = struct.unpack(">HH", content[PAGE + 8 : PAGE + 12])
    content[PAGE + first - 4 : PAGE + first] = content[2 * PAGE - 4 : 2 * PAGE]
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged"):
        list(read_tables(str(path))[RUNS])


@pytest.mark.parametrize(("table", "column"), [(table, column) for table, columns in FILLED.items() for column in columns])
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "sqlite"])
def test_rows_without_a_value_that_a_scan_always_has_are_refused(tmp_path, monkeypatch, suffix, table, column):
    monkeypatch.chdir(tmp_path)
    path = scan_models(f"zoo.{suffix}", {"a.tflite": ["ADD", "ROUND"]})
    tables = {name: list(rows) for name, rows in read_tables(path).items()}
    place = names(table).index(column)
    changed = [(*row[:place], None, *row[place + 1 :]) for row in tables[table]]
    assert changed
    format_for(path).write(f"other.{suffix}", {**tables, table: changed})
    with pytest.raises(ValueError, match="a value is missing"):
        list(read_tables(f"other.{suffix}")[table])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, monkeypatch, number):
    monkeypatch.chdir(tmp_path)
    scan_models("zoo.jsonl", {"a.tflite": ["ADD"]})
    text = Path("zoo.jsonl").read_text()
    Path("zoo.jsonl").write_text(text.replace('"delegated_share": 1.0', f'"delegated_share": {number}'))
    with pytest.raises(ValueError, match="a number is not finite"):
        list(read_tables("zoo.jsonl")[RUNS])
    assert list(read_tables("zoo.jsonl")[CAUSES]) == []


@pytest.mark.parametrize(("character", "accepted"), [("a", 13), ("\x01", 2), ("\U0001f600", 1)])
def test_characters_that_json_escapes_count_more(monkeypatch, character, accepted):
    monkeypatch.setattr(schema, "_ALWAYS", 1 << 20)
    limit = schema.RowLimit(0)
    row = tuple([character * 60_000 if name == "error" else value for name, value in zip(names(RUNS), ROW, strict=True)])
    for _ in range(accepted):
        limit.check([row], RUNS)
    with pytest.raises(LimitError):
        limit.check([row], RUNS)
