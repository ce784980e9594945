"""The journal of a scan. It stores results on disk while the scan is running."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from typing import Any, BinaryIO

from ..errors import DelegateSimError, LimitError
from ..foundation.files import lock, open_appended
from ..foundation.parsing.json_text import loads
from ..foundation.work_budget import work_budget
from .job import JobAnswer
from .schema import CAUSES, COLUMNS, LONGEST_TEXT, RUNS, RowLimit, batches, declaration, names

ScanRows = Iterable[tuple[Any, ...]]
"""Rows of a table, with the values in column order."""
ScanTables = Mapping[str, ScanRows]
"""The rows of the tables ``runs`` and ``causes``."""

_FIRST_LINE = b'["journal of a scan of delegate-sim", 1]\n'
"""The first line of a journal, with the version of the format. Files without this line are never written or deleted."""
_LAST_LINE = b'["stored"]\n'
"""The line after the rows that are stored together."""
_LONGEST_LINE = max(map(len, COLUMNS.values())) * LONGEST_TEXT * len("\\u0000")
"""Largest number of bytes of a row. JSON needs at most six bytes for a character."""
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_INSERT = {table: f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(names(table)))})" for table in COLUMNS}
_FORGET_CAUSES = f"DELETE FROM {CAUSES} WHERE model = ? AND target = ?"
_KNOWN = f"SELECT target, sha256, rule_set FROM {RUNS} WHERE model = ? AND error IS NULL"


class ScanError(DelegateSimError):
    """Raised if a scan cannot start or continue. The message names the file and the problem."""


class Journal:
    """The rows of the tables ``runs`` and ``causes`` in a file. Only one scan at a time can open the file.

    The file has a line of JSON for each row. A row of ``runs`` replaces all earlier rows of its model and target. If this process
    ends unexpectedly, the file has all rows of the stored answers. The rows of an incomplete answer are removed later, because no
    last line follows.

    Rows are looked up in a copy, a temporary database of SQLite, which ends with the process.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._is_taken_over = False
        with self._named():
            self._file = _opened(path)
        self._connection = sqlite3.connect("")
        try:
            with self._named():
                self._begin()
        except BaseException:
            self.close()
            raise

    def take_over(self, tables: ScanTables) -> None:
        """Import the output of an earlier scan, if the output was not imported before.

        Errors while reading the output are raised unchanged.
        """
        if not self._is_taken_over:
            self._store(tables)

    def append(self, answers: Sequence[JobAnswer]) -> None:
        """Store the rows of answers. Earlier rows for these models and targets are replaced."""
        runs = [_values(RUNS, row) for answer in answers for row in answer.runs]
        causes = [_values(CAUSES, row) for answer in answers for row in answer.causes]
        self._store({RUNS: runs, CAUSES: causes})

    def known(self, model: str) -> Mapping[str, tuple[str, str]]:
        """Return the digest of the model file and the version of the rules, for each stored result of a model.

        The results are keyed by target.
        """
        with self._named():
            return {target: (sha256, rules) for target, sha256, rules in self._connection.execute(_KNOWN, (model,))}

    def rows(self, table: str, models: Iterable[str], targets: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the stored rows of these models and targets, in the order of the arguments."""
        with self._named():
            for model in models:
                by_target: dict[str, list[tuple[Any, ...]]] = {}
                for row in self._connection.execute(f"SELECT * FROM {table} WHERE model = ? ORDER BY rowid", (model,)):
                    by_target.setdefault(row[1], []).append(row)
                for target in targets:
                    yield from by_target.get(target, ())

    def close(self) -> None:
        """Close the file, so that another scan can open it."""
        self._connection.close()
        with suppress(OSError):  # raised again for rows that could not be written
            self._file.close()

    def remove(self) -> None:
        """Close and delete the file. A new file of another scan at this path stays."""
        try:
            if _is_at(self._file, self.path):
                os.unlink(self.path)
            self.close()
        except PermissionError:  # on a system that does not delete open files
            self.close()
            os.unlink(self.path)

    def _begin(self) -> None:
        for table in COLUMNS:
            self._connection.execute(f"CREATE TABLE {table} ({declaration(table)})")
            self._connection.execute(f"CREATE {'UNIQUE ' if table == RUNS else ''}INDEX of_{table} ON {table} (model, target)")
        try:
            self._load()
        except (ValueError, RecursionError) as error:
            raise ScanError(f"{self.path}: is not the journal of a scan: remove it") from error
        except LimitError as error:
            raise ScanError(f"{self.path}: {error.reason}") from error

    def _load(self) -> None:
        """Copy the stored rows into the database, and remove incomplete rows from the file.

        Raises ValueError, RecursionError or LimitError if the file is not a journal.
        """
        size = os.fstat(self._file.fileno()).st_size
        if not size:
            self._file.write(_FIRST_LINE)
            self._file.flush()
            return
        self._file.seek(0)
        if self._file.readline(len(_FIRST_LINE)) != _FIRST_LINE:
            raise ValueError("is not a journal")
        limit = RowLimit(size)
        stored = len(_FIRST_LINE)
        for table, lines in itertools.groupby(self._lines(), itemgetter(0)):
            if table is None:
                self._connection.commit()
                *_, stored = map(itemgetter(1), lines)
                continue
            for rows in batches(map(itemgetter(1), lines)):
                limit.check(rows, table)
                self._copy(table, rows)
        self._connection.rollback()
        self._is_taken_over = stored > len(_FIRST_LINE)
        self._file.truncate(stored)

    def _lines(self) -> Iterator[tuple[str, tuple[Any, ...]] | tuple[None, int]]:
        """Yield the table and the values of each row, and None and the position in the file after each last line."""
        position = len(_FIRST_LINE)
        while (line := self._file.readline(_LONGEST_LINE)).endswith(b"\n"):
            position += len(line)
            yield (None, position) if line == _LAST_LINE else _row(line)
        if len(line) == _LONGEST_LINE:
            raise ValueError("a line is too long")

    def _store(self, tables: ScanTables) -> None:
        with self._connection:
            for table in COLUMNS:
                for rows in batches(tables[table]):
                    with self._named():
                        self._copy(table, rows)
                        self._file.writelines([_ENCODER.encode([table, *row]).encode() + b"\n" for row in rows])
            with self._named():
                self._file.write(_LAST_LINE)
                self._file.flush()
                self._connection.commit()
        self._is_taken_over = True

    def _copy(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if table == RUNS:
            self._connection.executemany(_FORGET_CAUSES, [row[:2] for row in rows])
        self._connection.executemany(_INSERT[table], rows)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ScanError(f"{self.path}: {error.strerror}") from error
        except sqlite3.Error as error:
            raise ScanError(f"{self.path}: {error}") from error


def _opened(path: str) -> BinaryIO:
    while True:
        file = open_appended(path)
        try:
            if not lock(file):
                raise ScanError(f"{path}: another scan is writing to it")
            if _is_at(file, path):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # another scan deleted the file before it was locked


def _is_at(file: BinaryIO, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _row(line: bytes) -> tuple[str, tuple[Any, ...]]:
    """Return the table and the values of a row. Raise ValueError, RecursionError or LimitError if the line is not a row."""
    with work_budget(is_new=True):
        content = loads(line.decode(), "reading a line")
    match content:
        case [str(table), *values] if table in COLUMNS:
            return table, tuple(values)
    raise ValueError("is not a row")


def _values(table: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple([row[name] for name in names(table)])
