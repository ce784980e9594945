"""The journal of a scan: results written to disk before the next model is judged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import DelegateSimError
from ..foundation.files import open_appended
from .job import JobAnswer
from .schema import CAUSES, COLUMNS, RUNS, declaration, names

ScanRows = Iterable[tuple[Any, ...]]
"""Rows of a table: values in the order of its columns."""
ScanTables = Mapping[str, ScanRows]
"""The rows of both tables."""

_INSERT_ROW = {table: f"INSERT INTO {table} VALUES ({', '.join([f':{name}' for name in names(table)])})" for table in COLUMNS}
_INSERT_VALUES = {table: f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(names(table)))})" for table in COLUMNS}
_KNOWN = f"SELECT target, sha256, rule_set FROM {RUNS} WHERE model = ? AND error IS NULL"
_TAKEN_OVER = 1
"""What ``user_version`` says once the output of an earlier scan has been taken over."""


class ScanError(DelegateSimError):
    """A scan cannot begin or go on: names the file and what is wrong."""


class Journal:
    """The rows of both tables in a file of SQLite, which one scan at a time has open.

    An answer that was added outlives this process, at whatever moment it ends; of one that was being added, nothing is left.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            open_appended(path).close()  # says what is wrong where it cannot be made
            with self._named():
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
        """Add what the output of an earlier scan holds, unless that has been done; raises what reading it raises."""
        if self._connection.execute("PRAGMA user_version").fetchone() == (_TAKEN_OVER,):
            return
        with self._connection:
            for table in COLUMNS:
                self._connection.executemany(_INSERT_VALUES[table], tables[table])
            self._connection.execute(f"PRAGMA user_version = {_TAKEN_OVER}")

    def append(self, answers: Sequence[JobAnswer]) -> None:
        """Put answers in the place of what was known of their models and targets."""
        runs = [row for answer in answers for row in answer.runs]
        causes = [row for answer in answers for row in answer.causes]
        with self._named(), self._connection:
            for table in COLUMNS:
                self._connection.executemany(f"DELETE FROM {table} WHERE model = :model AND target = :target", runs)
            self._connection.executemany(_INSERT_ROW[RUNS], runs)
            self._connection.executemany(_INSERT_ROW[CAUSES], causes)

    def known(self, model: str) -> Mapping[str, tuple[str, str]]:
        """Return for each target that has an answer the content and the rules that it holds for."""
        with self._named():
            return {target: (sha256, rules) for target, sha256, rules in self._connection.execute(_KNOWN, (model,))}

    def rows(self, table: str, models: Iterable[str], targets: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Return the rows of these models and targets, in their order."""
        with self._named():
            for model in models:
                by_target: dict[str, list[tuple[Any, ...]]] = {}
                for row in self._connection.execute(f"SELECT * FROM {table} WHERE model = ? ORDER BY rowid", (model,)):
                    by_target.setdefault(row[1], []).append(row)
                for target in targets:
                    yield from by_target.get(target, ())

    def close(self) -> None:
        """Close the file, and let another scan have it."""
        self._connection.close()

    def remove(self) -> None:
        """Close and delete the file, since everything in it is in the output."""
        with self._named():
            self._connection.execute("PRAGMA journal_mode = DELETE")  # leaves no file beside it
        try:
            os.unlink(self.path)
            self._connection.close()
        except PermissionError:  # of a system that does not delete what is open
            self._connection.close()
            os.unlink(self.path)

    def _begin(self) -> None:
        """Lock the file, and make the tables where it is new."""
        for statement in ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT", "PRAGMA journal_mode = WAL"):
            self._connection.execute(statement)
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._connection:
            for table in COLUMNS:
                found = [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]
                if found and found != names(table):
                    raise ScanError(f"{self.path}: is the journal of another version; remove it")
                self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({declaration(table)})")
                unique = "UNIQUE" if table == RUNS else ""
                self._connection.execute(f"CREATE {unique} INDEX IF NOT EXISTS of_{table} ON {table} (model, target)")

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Raise errors of SQLite as ScanError."""
        try:
            yield
        except sqlite3.Error as error:
            words = str(error)
            if "locked" in words:
                words = "another scan is writing it"
            elif "not a database" in words or "malformed" in words:
                words = "is not the journal of a scan; remove it"
            raise ScanError(f"{self.path}: {words}") from error
