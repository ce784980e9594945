"""The journal of a scan. It stores results on disk while the scan is running."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import DelegateSimError
from ..foundation.files import open_appended
from .job import JobAnswer
from .reading import check_first_page, check_row, check_schema
from .schema import CAUSES, COLUMNS, RUNS, declaration, names

ScanRows = Iterable[tuple[Any, ...]]
"""Rows of a table, with the values in column order."""
ScanTables = Mapping[str, ScanRows]
"""The rows of the tables ``runs`` and ``causes``."""

_INSERT_ROW = {table: f"INSERT INTO {table} VALUES ({', '.join([f':{name}' for name in names(table)])})" for table in COLUMNS}
_INSERT_VALUES = {table: f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(names(table)))})" for table in COLUMNS}
_KNOWN = f"SELECT target, sha256, rule_set FROM {RUNS} WHERE model = ? AND error IS NULL"
SQLITE_SUFFIXES = ("-journal", "-wal", "-shm")
"""Suffixes of the files that SQLite writes and removes beside a file."""
_APPLICATION_ID = 0x64537363
"""SQLite's ``application_id`` of a journal. Other files are never written or deleted."""
_SCHEMA = tuple(
    [
        statement
        for table in COLUMNS
        for statement in (
            f"CREATE TABLE {table} ({declaration(table)})",
            f"CREATE {'UNIQUE ' if table == RUNS else ''}INDEX of_{table} ON {table} (model, target)",
        )
    ]
)
_TAKEN_OVER = 1
"""Value of ``user_version`` after the output of an earlier scan was imported."""


class ScanError(DelegateSimError):
    """Raised if a scan cannot start or continue. The message names the file and the problem."""


class Journal:
    """The rows of the tables ``runs`` and ``causes`` in a SQLite file. Only one scan at a time can open the file.

    If this process ends unexpectedly, the file has all rows of the stored answers, and no row of an incomplete answer.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open_appended(path) as file:  # raises a clear error if the file cannot be created
                file.seek(0)
                page = file.read(1 << 16)
            if page and (page[:16], page[68:72]) != (b"SQLite format 3\0", _APPLICATION_ID.to_bytes(4, "big")):
                raise ScanError(f"{path}: is not the journal of a scan: remove it")
            with self._named():
                if page:
                    check_first_page(page, len(_SCHEMA))
                self._connection = sqlite3.connect(path, timeout=0)
        except OSError as error:
            raise ScanError(f"{path}: {error.strerror}") from error
        try:
            with self._named():
                self._begin()
        except ScanError:
            self._connection.close()
            raise

    def take_over(self, tables: ScanTables) -> None:
        """Import the output of an earlier scan, if the output was not imported before.

        Errors while reading the output are raised unchanged.
        """
        if self._connection.execute("PRAGMA user_version").fetchone() == (_TAKEN_OVER,):
            return
        with self._connection:
            for table in COLUMNS:
                self._connection.executemany(_INSERT_VALUES[table], tables[table])
            self._connection.execute(f"PRAGMA user_version = {_TAKEN_OVER}")

    def append(self, answers: Sequence[JobAnswer]) -> None:
        """Store the rows of answers. Earlier rows for these models and targets are replaced."""
        runs = [row for answer in answers for row in answer.runs]
        causes = [row for answer in answers for row in answer.causes]
        with self._named(), self._connection:
            for table in COLUMNS:
                self._connection.executemany(f"DELETE FROM {table} WHERE model = :model AND target = :target", runs)
            self._connection.executemany(_INSERT_ROW[RUNS], runs)
            self._connection.executemany(_INSERT_ROW[CAUSES], causes)

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
                    check_row(row, table)
                    by_target.setdefault(row[1], []).append(row)
                for target in targets:
                    yield from by_target.get(target, ())

    def close(self) -> None:
        """Close the file, so that another scan can open it."""
        self._connection.close()

    def remove(self) -> None:
        """Close and delete the file."""
        with self._named():
            self._connection.execute("PRAGMA journal_mode = DELETE")  # removes the write-ahead log
        try:
            os.unlink(self.path)
            self._connection.close()
        except PermissionError:  # on a system that does not delete open files
            self._connection.close()
            os.unlink(self.path)

    def _begin(self) -> None:
        """Lock the file, and create the tables if the file is new."""
        check_schema(self._connection, ({*_SCHEMA}, set()))
        for statement in ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT"):
            self._connection.execute(statement)
        # The identifier is in the file itself before the write-ahead log begins.
        self._connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._connection:
            if self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                for statement in ("BEGIN", *_SCHEMA):  # all or nothing
                    self._connection.execute(statement)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Raise errors of SQLite as ScanError."""
        try:
            yield
        except ValueError as error:
            raise ScanError(f"{self.path}: is not the journal of a scan: remove it") from error
        except sqlite3.Error as error:
            words = str(error)
            if "locked" in words:
                words = "another scan is writing to it"
            elif "not a database" in words or "malformed" in words:
                words = "is not the journal of a scan: remove it"
            raise ScanError(f"{self.path}: {words}") from error
