"""The file, or files, that a scan is kept in."""

from __future__ import annotations

import csv
import functools
import importlib
import io
import json
import os
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ..files import open_input, write_by, write_whole
from .job import ScanRow
from .journal import ScanError
from .schema import CAUSES, COLUMNS, INTEGER, REAL, RUNS, TEXT

_FORMULA = re.compile(r"'*\s*[=+\-@]")

ScanTables = Mapping[str, Sequence[ScanRow]]
"""The rows of both tables."""


class Format(NamedTuple):
    """How tables are written to, and read from, the files of a scan."""

    write: Callable[[str, ScanTables], None]
    read: Callable[[str], ScanTables]


def format_for(path: str) -> Format:
    """Return the format that the name of a file asks for; raises ScanError if it asks for none."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in _FORMATS:
        raise ScanError(f"{path}: the name of an output ends in {', '.join(_FORMATS)}")
    return _FORMATS[suffix]


def causes_path(path: str) -> str:
    """Return the file beside the output that the causes go to, where a format keeps one table in a file.

    >>> causes_path("zoo.parquet")
    'zoo.causes.parquet'
    """
    stem, suffix = os.path.splitext(path)
    return f"{stem}.causes{suffix}"


def _read_csv(path: str) -> ScanTables:
    return {table: _csv_rows(file, table) for table, file in _files(path)}


def _csv_rows(path: str, table: str) -> list[ScanRow]:
    with io.TextIOWrapper(open_input(path, is_updated=True), encoding="utf-8", newline="") as file:
        types = {column.name: column.type for column in COLUMNS[table]}
        return [{name: _value(types.get(name, TEXT), value) for name, value in row.items()} for row in csv.DictReader(file)]


def _value(kind: str, text: str) -> Any:
    if not text:
        return None
    if kind == TEXT:
        return text[1:] if text[0] == "'" and _FORMULA.match(text[1:]) else text
    return int(text) if kind == INTEGER else float(text)


def _cell(value: Any) -> Any:
    """Return a value of which no spreadsheet makes a formula; reading takes the mark away. CSV has no NUL."""
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "\\x00")
    return f"'{text}" if _FORMULA.match(text) else text


def _write_csv(path: str, tables: ScanTables) -> None:
    for table, file in _files(path):
        text = io.StringIO()
        writer = csv.DictWriter(text, [column.name for column in COLUMNS[table]], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in tables[table])
        write_whole(file, text.getvalue())


def _read_lines(path: str) -> ScanTables:
    tables: dict[str, list[ScanRow]] = {}
    for table, file in _files(path):
        with io.TextIOWrapper(open_input(file, is_updated=True), encoding="utf-8") as lines:
            tables[table] = [json.loads(line) for line in lines]
    return tables


def _write_lines(path: str, tables: ScanTables) -> None:
    for table, file in _files(path):
        write_whole(file, "".join([json.dumps(row) + "\n" for row in tables[table]]))


def _files(path: str) -> list[tuple[str, str]]:
    return [(CAUSES, causes_path(path)), (RUNS, path)]


_SQL_TYPES = {TEXT: "TEXT", INTEGER: "INTEGER", REAL: "REAL"}


def _write_sqlite(path: str, tables: ScanTables) -> None:
    def fill(temporary: str) -> None:
        with sqlite3.connect(temporary) as connection:
            for table, columns in COLUMNS.items():
                names = [column.name for column in columns]
                declared = ", ".join([f"{column.name} {_SQL_TYPES[column.type]}" for column in columns])
                connection.execute(f"CREATE TABLE {table} ({declared})")
                places = ", ".join("?" * len(names))
                rows = [[row[name] for name in names] for row in tables[table]]
                connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        connection.close()

    write_by(path, fill)


def _read_sqlite(path: str) -> ScanTables:
    # SQLite opens by name only; that the file is a regular one is seen to before.
    address = f"{Path(path).absolute().as_uri()}?mode=ro"
    with open_input(path, is_updated=True), closing(sqlite3.connect(address, uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return {table: [dict(row) for row in connection.execute(f"SELECT * FROM {table}")] for table in COLUMNS}


def _write_parquet(path: str, tables: ScanTables) -> None:
    arrow, parquet = _arrow(path)
    types = {TEXT: arrow.string(), INTEGER: arrow.int64(), REAL: arrow.float64()}
    for table, file in _files(path):
        schema = arrow.schema([(column.name, types[column.type]) for column in COLUMNS[table]])
        content = arrow.Table.from_pylist(list(tables[table]), schema=schema)
        write_by(file, functools.partial(parquet.write_table, content))


def _read_parquet(path: str) -> ScanTables:
    _, parquet = _arrow(path)
    tables = {}
    for table, name in _files(path):
        with open_input(name, is_updated=True) as file:
            tables[table] = parquet.read_table(file).to_pylist()
    return tables


def _arrow(path: str) -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ScanError(f"{path}: Parquet needs the package pyarrow: pip install 'delegate-sim[scan]'") from error


_FORMATS = {
    ".parquet": Format(_write_parquet, _read_parquet),
    ".csv": Format(_write_csv, _read_csv),
    ".jsonl": Format(_write_lines, _read_lines),
    ".sqlite": Format(_write_sqlite, _read_sqlite),
}
