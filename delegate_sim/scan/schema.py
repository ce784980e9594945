"""The columns of a scan's two tables, and checks of tables from files, which may come from strangers.

``docs/scan.md`` is generated from these columns, and every output format has the columns in this order.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..errors import LimitError
from ..foundation.columns import INTEGER, NUMBER, TEXT, Column, keys, within
from ..foundation.files import open_input
from ..foundation.limits import how_to_raise, raised
from ..results.report.measures import NUMBERS, measure_columns
from ..results.report.multiply_adds import COMPUTE

LONGEST_TEXT = 1 << 16
"""Largest number of characters in a text. A scan cuts longer texts."""
_SQL_TYPES = {TEXT: "TEXT", INTEGER: "BIGINT", NUMBER: "DOUBLE"}

RUNS = "runs"
CAUSES = "causes"

_KEY = (
    Column("model", TEXT, "the model's path, address in a bundle, or URL"),
    Column("target", TEXT, "the target, written as on the command line", source="spec.name"),
)
_MEASURED = [
    column._replace(is_optional=False)  # every row has all columns
    for column in within(
        "summary.measures",
        measure_columns("outcome", "nodes", "delegated_nodes", "delegated_share", "partitions", "delegate_kernels"),
    )
]
RUN_COLUMNS = (
    *_KEY,
    Column("sha256", TEXT, "the digest of the model's content"),
    Column("size", INTEGER, "bytes of the model"),
    Column("delegate", TEXT, "the delegate's name", source="spec.delegate"),
    Column("runtime", TEXT, "the release of the runtime", source="spec.release"),
    Column("rule_set", TEXT, "the version of the delegate's rules"),
    Column("error", TEXT, "the reason why there is no result; if it is present, all later columns are empty"),
    *_MEASURED,
    *within("summary", COMPUTE),
    Column(
        "multiply_add_share",
        NUMBER,
        "the share of multiply-adds that are delegated, from 0 to 1; 0 if the delegate fails or the model does not run; empty if "
        "the model has no multiply-adds",
    ),
    Column("number_codes", TEXT, "the codes of the conditions under which numbers are wrong or may be wrong, as a JSON list"),
    Column("delegated_operators", TEXT, "the operators of the delegated nodes, as a JSON list"),
    Column("refusal_code", TEXT, "the code of the reason why the whole graph is refused", source="run.refusal.code"),
    Column("refusal", TEXT, "the message that belongs to refusal_code", source="run.refusal.message"),
    Column("log_line", TEXT, "the first log line of the runtime, or else of the delegate", source="run.first_line"),
)
CAUSE_COLUMNS = (
    *_KEY,
    Column("code", TEXT, "the code of the refusal (delegate-sim explain CODE)"),
    Column("problem", TEXT, "the kind of problem: operator, operator-version, driver, type, rank and so on"),
    Column("operator", TEXT, "the operator of the nodes"),
    Column("nodes", INTEGER, "number of nodes that stay on the CPU with this code as their first reason"),
    Column("operator_nodes", INTEGER, "number of nodes of this operator in the model"),
    Column("multiply_adds", INTEGER, "multiply-adds of the nodes that stay on the CPU with this code as their first reason"),
    Column("reason", TEXT, "the refusal message of one of the nodes"),
    Column("change", TEXT, "what to change, if a change is known"),
)


COLUMNS = {RUNS: RUN_COLUMNS, CAUSES: CAUSE_COLUMNS}
MEASURES = ("outcome", "nodes", "delegated_nodes", "multiply_adds", "delegated_multiply_adds")
"""The columns that totals need. Every run without an error has a value in each of them."""
NUMBER_COUNTS = keys(NUMBERS)
"""The columns that totals read if they have a value."""
FILLED = {
    RUNS: ("model", "target", "delegate", "runtime", "rule_set"),
    CAUSES: ("model", "target", "code", "nodes", "operator_nodes", "multiply_adds"),
}
"""The columns of each table in which every row has a value."""


def sql_type(column: Column) -> str:
    """Return the type of a column's values in SQLite and DuckDB."""
    return _SQL_TYPES[column.type]


def declaration(table: str) -> str:
    """Return the columns of a table as an SQL declaration for SQLite and DuckDB.

    >>> declaration(CAUSES).partition(",")[0]
    'model TEXT'
    """
    return ", ".join([f"{column.key} {sql_type(column)}" for column in COLUMNS[table]])


def names(table: str) -> list[str]:
    """Return the names of a table's columns."""
    return list(keys(COLUMNS[table]))


def check_columns(columns: Sequence[str], table: str) -> None:
    """Raise ValueError if the names are not those of a table's columns."""
    if list(columns) != names(table):
        raise ValueError(f"its columns are not those of {table}")


_ALWAYS = 512 << 20
"""Up to this number of bytes, the rows of a scan may be larger than its files."""
_BYTES_FOR_A_BYTE = 48
"""Largest number of bytes of rows for each byte of the files. Files can refer to the same bytes many times."""
_BYTES_OF_A_VALUE = 150
"""Number of bytes that count for a value in addition to its text. Reading and storing a value takes about two microseconds."""
_LEAST_ROWS = 4
"""Number of rows that count if fewer are checked together. Checking and storing a single row takes about as long."""
ROWS_AT_ONCE = 20
"""Number of rows that are read before their size is checked. Each text of a row may take 256 KiB."""
_TYPES: Mapping[str, tuple[type, ...]] = {TEXT: (str,), INTEGER: (int,), NUMBER: (int, float)}
_TYPES_OF = {
    table: [{*_TYPES[column.type], *([] if column.key in FILLED[table] else [type(None)])} for column in columns]
    for table, columns in COLUMNS.items()
}
"""The types of values in each column."""
_ERROR = names(RUNS).index("error")
_measures = itemgetter(*map(names(RUNS).index, MEASURES))

_SQLITE_HEADER, _PAGE_HEADER = 100, 8
_SQLITE_MAGIC = b"SQLite format 3\x00"
_LEAF_OF_A_TABLE = 13
_LONGEST_STATEMENT = 2048
_SCHEMA = {f"CREATE TABLE {table} ({declaration(table)})" for table in COLUMNS}


class RowLimit:
    """The limit on the rows of one scan. ``file_size`` is the size of its files in bytes."""

    def __init__(self, file_size: int) -> None:
        self._most = self._left = raised(max(_ALWAYS, _BYTES_FOR_A_BYTE * file_size))

    def check_counts(self, counts: Mapping[str, int]) -> None:
        """Raise LimitError if tables with these numbers of rows are too large, however short the rows are."""
        if sum([_BYTES_OF_A_VALUE * len(COLUMNS[table]) * count for table, count in counts.items()]) > self._most:
            raise self._error()

    def checked(self, rows: Iterable[tuple[Any, ...]], table: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table. Raises the errors of ``check``."""
        for some in batches(rows):
            self.check(some, table)
            yield from some

    def check(self, rows: Sequence[tuple[Any, ...]], table: str) -> None:
        """Raise ValueError if a value of some rows is wrong, and LimitError if the rows that were checked are too large."""
        size = _BYTES_OF_A_VALUE * len(COLUMNS[table]) * max(len(rows), _LEAST_ROWS)
        for values, allowed in zip(zip(*rows, strict=True), _TYPES_OF[table], strict=True):
            if wrong := set(map(type, values)) - allowed:
                raise ValueError("a value is missing" if type(None) in wrong else "a value has a wrong type")
            if str in allowed:
                size += _size_of_texts([value for value in values if value is not None])
            elif float in allowed and not all(map(math.isfinite, [value for value in values if value is not None])):
                raise ValueError("a number is not finite")
        if table == RUNS and any(not row[_ERROR] and None in _measures(row) for row in rows):
            raise ValueError("a row has neither an error nor measures")
        self._left -= size
        if self._left < 0:
            raise self._error()

    def _error(self) -> LimitError:
        return LimitError(f"its rows are larger than the limit of {self._most >> 20:,} MiB{how_to_raise()}")


def batches(rows: Iterable[tuple[Any, ...]], count: int = ROWS_AT_ONCE) -> Iterator[list[tuple[Any, ...]]]:
    """Yield lists of at most ``count`` rows."""
    waiting = iter(rows)
    while some := list(itertools.islice(waiting, count)):
        yield some


def _size_of_texts(texts: Sequence[str]) -> int:
    if max(map(len, texts), default=0) > LONGEST_TEXT:
        raise ValueError(f"a text has more than {LONGEST_TEXT:,} characters")
    return len(json.dumps("".join(texts)))


def total_size(files: Mapping[str, str]) -> int:
    """Return the number of bytes of the files with a scan's tables. A missing file has none. A file may have several tables."""
    return sum([os.path.getsize(file) for file in {*files.values()} if os.path.isfile(file)])


@contextmanager
def opened_sqlite(path: str) -> Iterator[sqlite3.Connection]:
    """Open the SQLite file of a scan for reading.

    Raises ValueError if the schema is not exactly the schema that a scan writes: a view, a trigger or an expression in the schema
    would run code. SQLite's own journals next to the file are neither read nor written. Raises OSError or sqlite3.Error.
    """
    with open_input(path, is_updated=True) as file:
        _check_first_page(file.read(1 << 16))
        # SQLite opens files by name only.
        address = f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            if {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")} != _SCHEMA:
                raise ValueError("has another schema")
            # Rows that share pages would let a small file expand to any size.
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise ValueError("is damaged")
            yield connection


def _check_first_page(page: bytes) -> None:
    """Raise ValueError if a SQLite file may have a schema with more statements than that of a scan, or a long statement.

    SQLite parses the whole schema when it opens the file. The time for this can grow with the square of the schema's size.
    ``page`` has the beginning of the file.
    """
    if not page.startswith(_SQLITE_MAGIC) or len(page) < _SQLITE_HEADER + _PAGE_HEADER:
        raise ValueError("is not a SQLite database")
    count = int.from_bytes(page[103:105], "big")
    if page[_SQLITE_HEADER] != _LEAF_OF_A_TABLE or count > len(_SCHEMA):
        raise ValueError("has another schema")
    start = _SQLITE_HEADER + _PAGE_HEADER
    pointers = page[start : start + 2 * count]
    for first, second in zip(pointers[::2], pointers[1::2], strict=False):
        cell = first << 8 | second
        # The size has groups of seven bits. All bytes but the last one have the highest bit.
        high, low = page[cell : cell + 2]
        size = high if high < 0x80 else (high & 0x7F) << 7 | (low if low < 0x80 else sys.maxsize)
        if size > _LONGEST_STATEMENT:
            raise ValueError("has another schema")
