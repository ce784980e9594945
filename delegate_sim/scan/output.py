"""Output files of a scan."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ..foundation.columns import INTEGER, NUMBER, TEXT
from ..foundation.files import open_input, write_by, write_chunks
from .duckdb_tables import arrow, parquet_count, parquet_rows
from .journal import ScanError, ScanRows, ScanTables
from .schema import CAUSES, COLUMNS, RUNS, RowLimit, batches, check_columns, declaration, names, opened_sqlite, total_size

_BATCH = 5_000
_FORMULA = r"(?='*\s*[=+\-@\uff1d\uff0b\uff0d\uff20])"
"""A pattern for the position before text that spreadsheets read as a formula."""
_UNMARKED = re.compile(f"(^|;){_FORMULA}")
_MARKED = re.compile(f"(^|;)'{_FORMULA}")


def marked(text: str) -> str:
    """Return text for a CSV cell, with an apostrophe before every part that a spreadsheet would read as a formula.

    Parts are separated by semicolons, because some spreadsheets split cells at semicolons, even in quotes.

    >>> marked("=1+1;-2")
    "'=1+1;'-2"
    """
    return _UNMARKED.sub(r"\1'", text)


def unmarked(text: str) -> str:
    """Return text without the apostrophes that ``marked`` adds.

    >>> unmarked(marked("'=1")) == "'=1"
    True
    """
    return _MARKED.sub(r"\1", text)


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: functions that write all tables of a scan, and read the rows of one table from its file.

    ``is_parquet`` tells whether DuckDB reads the format on its own.
    """

    write: Callable[[str, ScanTables], None]
    rows: Callable[[str, str], ScanRows]
    is_parquet: bool = False
    is_one_file: bool = False
    """Whether one file has all tables."""

    def files(self, path: str) -> list[tuple[str, str]]:
        """Return pairs of a table and its file. The first file is the output itself."""
        return [(RUNS, path)] if self.is_one_file else table_files(path)[::-1]


def format_for(path: str) -> Format:
    """Return the format for the extension of a file. Raises ScanError if the extension is unknown."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in _FORMATS:
        raise ScanError(f"{path}: the name of the output must end in {', '.join(_FORMATS)}")
    return _FORMATS[suffix]


def causes_path(path: str) -> str:
    """Return the path of the file with the table ``causes``, for formats that store one table per file.

    >>> causes_path("zoo.parquet")
    'zoo.causes.parquet'
    """
    stem, suffix = os.path.splitext(path)
    return f"{stem}.causes{suffix}"


def _csv_rows(path: str, table: str) -> ScanRows:
    types = [column.type for column in COLUMNS[table]]
    with io.TextIOWrapper(open_input(path, is_updated=True), encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        check_columns(next(rows, []), table)
        for row in rows:
            yield tuple([_value(kind, text) for kind, text in zip(types, row, strict=True)])


def _value(kind: str, text: str) -> Any:
    if not text:
        return None
    return unmarked(text) if kind == TEXT else float(text) if kind == NUMBER else int(text)


def _write_csv(path: str, tables: ScanTables) -> None:
    for table, file in table_files(path):
        write_chunks(file, _csv_lines(table, tables[table]))


def _csv_lines(table: str, rows: ScanRows) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names(table))
    for some in batches(rows, _BATCH):
        writer.writerows([[marked(value) if isinstance(value, str) else value for value in row] for row in some])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def _line_rows(path: str, table: str) -> ScanRows:
    with open_input(path, is_updated=True) as lines:
        for line in lines:
            row = json.loads(line)
            check_columns(list(row) if isinstance(row, dict) else (), table)
            yield tuple(row.values())


def _write_lines(path: str, tables: ScanTables) -> None:
    for table, file in table_files(path):
        keys = names(table)
        write_chunks(file, (json.dumps(dict(zip(keys, row, strict=True))).encode() + b"\n" for row in tables[table]))


def table_files(path: str) -> list[tuple[str, str]]:
    """Return pairs of a table and its file, for formats that store one table per file."""
    return [(CAUSES, causes_path(path)), (RUNS, path)]


def _write_sqlite(path: str, tables: ScanTables) -> None:
    def fill(temporary: str) -> None:
        with closing(sqlite3.connect(temporary)) as connection, connection:
            for table in COLUMNS:
                connection.execute(f"CREATE TABLE {table} ({declaration(table)})")
                places = ", ".join("?" * len(names(table)))
                connection.executemany(f"INSERT INTO {table} VALUES ({places})", tables[table])

    write_by(path, fill)


def _sqlite_rows(path: str, table: str) -> ScanRows:
    with opened_sqlite(path) as connection:
        yield from connection.execute(f"SELECT * FROM {table}")


def _write_parquet(path: str, tables: ScanTables) -> None:
    module, parquet = arrow(path)
    types = {TEXT: module.string(), INTEGER: module.int64(), NUMBER: module.float64()}

    def fill(table: str, temporary: str) -> None:
        schema = module.schema([(column.key, types[column.type]) for column in COLUMNS[table]])
        with parquet.ParquetWriter(temporary, schema) as writer:
            for some in batches(tables[table], _BATCH):
                columns = [
                    module.array(values, field.type) for values, field in zip(zip(*some, strict=True), schema, strict=True)
                ]
                writer.write_batch(module.record_batch(columns, schema=schema))

    for table, file in table_files(path):
        write_by(file, functools.partial(fill, table))


def read_tables(path: str) -> ScanTables:
    """Return the rows of a scan.

    Reading the rows raises ValueError, RecursionError, csv.Error or sqlite3.Error if the file is not the output of a scan,
    LimitError if it has too many rows, and OSError if it cannot be read. Parquet files with too many rows are refused before
    any row is read.
    """
    files, form = table_files(path), format_for(path)
    limit = RowLimit(total_size(dict(files)))
    if form.is_parquet:
        limit.check_counts({table: parquet_count(file) for table, file in files if os.path.isfile(file)})
    sources = dict.fromkeys(COLUMNS, path) if form.is_one_file else dict(files)
    return {table: limit.checked(form.rows(file, table), table) for table, file in sources.items()}


_FORMATS = {
    ".parquet": Format(_write_parquet, parquet_rows, is_parquet=True),
    ".csv": Format(_write_csv, _csv_rows),
    ".jsonl": Format(_write_lines, _line_rows),
    ".sqlite": Format(_write_sqlite, _sqlite_rows, is_one_file=True),
}
