"""Open DuckDB so that a query can use neither files nor the network, and only limited memory and processor time."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from ..foundation.columns import TEXT
from ..foundation.files import open_input
from ..foundation.late_numpy import np
from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import install_command
from .journal import ScanError, ScanRows
from .schema import COLUMNS, LONGEST_TEXT, ROWS_AT_ONCE, check_columns

_MEMORY = 384 << 20
"""Number of bytes that DuckDB may use for small files."""
_SHARE_OF_ROWS = 4
"""The rows of a result may take one part in this many of DuckDB's memory, because a writer then makes them larger."""
_MEMORY_FOR_A_BYTE = 40
"""Number of bytes of memory for each byte of the files, if this is more."""
_SECONDS = 6
"""Seconds of processor time for small files, on all cores together."""
_BYTES_IN_A_SECOND = 1 << 20
"""Number of bytes of the files for each second, if this is more time."""
_TAIL = 8
"""Number of bytes at the end of a Parquet file: the length of the footer, and four letters."""
_LONGEST_FOOTER, _BYTES_FOR_A_FOOTER_BYTE = 1 << 20, 16
"""Number of bytes that the footer of a small Parquet file may have, and the number of bytes of a large file for each of them."""
_LONGEST_LIST = 100_000
"""Number of elements that a list in the footer may have."""
_INTERVAL = 0.05
_INTERRUPTED = "Query interrupted"
_STATEMENTS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "EXPLAIN", "MULTI"})
"""The kinds of statements that a query may have. Others load extensions, write files or change settings."""
_CONFIGURATION = {
    "temp_directory": "",  # by default, DuckDB writes to a folder .tmp, and lets queries read and write there
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # otherwise, a query can name variables of this program as tables
}


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt if the user interrupts a call of DuckDB inside this context.

    DuckDB raises a RuntimeError instead, as for other faults.
    """
    try:
        yield
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise


class DuckDb:
    """A DuckDB database in memory, with the limits for files of ``file_size`` bytes."""

    def __init__(self, file_size: int) -> None:
        try:
            duckdb: Any = importlib.import_module("duckdb")
        except ImportError as error:
            raise ScanError(f"this needs the package duckdb: {install_command('scan')}") from error
        atexit.register(gc.unfreeze)  # duckdb reports its objects that are left when the process ends
        self.error: type[Exception] = duckdb.Error
        self.limit_errors: tuple[type[Exception], ...] = (duckdb.OutOfMemoryException, duckdb.InterruptException)
        self._module = duckdb
        self._memory = raised(max(_MEMORY, _MEMORY_FOR_A_BYTE * file_size))
        self._seconds = raised(max(_SECONDS, file_size // _BYTES_IN_A_SECOND))
        self.connection = duckdb.connect(":memory:", config={**_CONFIGURATION, "memory_limit": f"{self._memory >> 20}MiB"})

    @contextmanager
    def limited(self, subject: str) -> Iterator[None]:
        """Limit memory and processor time inside this context. At the end, close the database.

        Raise errors about the limits as ScanError. The message begins with ``subject``, such as "the query".
        """
        finished = threading.Event()
        end = time.process_time() + self._seconds

        def watch() -> None:
            while not finished.wait(_INTERVAL):
                if time.process_time() > end:
                    self.connection.interrupt()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            with interruptible():
                yield
        except (MemoryError, self._module.OutOfMemoryException) as error:
            raise ScanError(f"{subject} needs more than {self._memory >> 20:,} MiB of memory{how_to_raise()}") from error
        except self._module.InterruptException as error:
            raise ScanError(f"{subject} takes more than {self._seconds:,} seconds of processor time{how_to_raise()}") from error
        finally:
            finished.set()
            thread.join()
            self.connection.close()

    def lock(self) -> None:
        """Forbid all access to files, and all changes of settings."""
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")

    def check_statements(self, sql: str) -> None:
        """Raise ScanError if a query has a statement that does more than read and change tables, or has no statement."""
        statements = self.connection.extract_statements(sql)
        if not statements:
            raise ScanError("the query is refused: it has no statement")
        for statement in statements:
            try:
                kind = str(statement.type).rpartition(".")[2]
            except ValueError as error:  # DuckDB's Python package lacks some kinds
                raise ScanError("the query is refused: it has a statement of an unknown kind") from error
            if kind not in _STATEMENTS:
                raise ScanError(f"the query is refused: a query cannot have a statement of the kind {kind}")

    def rows(self, sql: str) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        """Return the names of the columns and the rows of a query's result. Raises MemoryError if the rows are too large."""
        answer = self.connection.execute(sql)
        rows: list[tuple[Any, ...]] = []
        left = self._memory // _SHARE_OF_ROWS
        while some := answer.fetchmany(ROWS_AT_ONCE):
            left -= sum([sum(map(sys.getsizeof, row)) + sys.getsizeof(row) for row in some])
            if left < 0:
                raise MemoryError
            rows += some
        return [column[0] for column in answer.description or ()], rows


def arrow(path: str) -> tuple[Any, Any]:
    """Return the modules ``pyarrow`` and ``pyarrow.parquet``. Raises ScanError, which names the file, if they are missing."""
    # Arrow's own allocator reserves 1 GiB of address space, and Arrow crashes if the reservation exceeds a limit.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    np.bool_  # noqa: B018  # Arrow imports NumPy, which must not start threads
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ScanError(f"{path}: Parquet needs the package pyarrow: {install_command('scan')}") from error


def parquet_count(path: str) -> int:
    """Return the number of rows of a Parquet file.

    A file whose footer is long or claims long lists is refused: DuckDB would allocate memory for them without a limit. Raises
    ValueError, ScanError or OSError.
    """
    module, parquet = arrow(path)
    with open_input(path, is_updated=True) as file:
        size = os.path.getsize(path)
        most = raised(max(_LONGEST_FOOTER, size // _BYTES_FOR_A_FOOTER_BYTE))
        file.seek(max(size - _TAIL, 0))
        if int.from_bytes(file.read(_TAIL // 2), "little") > most:
            raise ScanError(f"{path}: the footer of the Parquet file has more than {most:,} bytes{how_to_raise()}")
        try:
            count: int = parquet.ParquetFile(file, thrift_container_size_limit=_LONGEST_LIST).metadata.num_rows
        except (OSError, module.ArrowException) as error:
            raise ValueError("is not a Parquet file") from error
    return count


def parquet_source(connection: Any, path: str, table: str) -> tuple[str, list[str]]:
    """Return a query for the rows of a Parquet file, and its parameters.

    The query raises an error if a text is too long. Raises ValueError if the columns are wrong, or OSError if the file cannot be
    read.
    """
    parquet_count(path)
    # An absolute path is not a URL. Brackets take the meaning from wildcards.
    parameters = [re.sub(r"[*?\[]", lambda match: f"[{match[0]}]", os.path.abspath(path))]
    source = "read_parquet([?], hive_partitioning = false)"
    answer = connection.execute(f"SELECT * FROM {source} LIMIT 0", parameters)
    check_columns([column[0] for column in answer.description], table)
    columns = [
        f"CASE WHEN strlen({column.key}::TEXT) > {LONGEST_TEXT} THEN error('a text is too long') ELSE {column.key} END"
        if column.type == TEXT
        else column.key
        for column in COLUMNS[table]
    ]
    return f"SELECT {', '.join(columns)} FROM {source}", parameters


def parquet_rows(path: str, table: str) -> ScanRows:
    """Yield the rows of a Parquet file. Raises ValueError, ScanError or OSError."""
    size = os.path.getsize(path)
    database = DuckDb(size)
    with closing(database.connection) as connection:
        try:
            with interruptible():
                query, parameters = parquet_source(connection, path, table)
                answer = connection.execute(query, parameters)
                while some := answer.fetchmany(ROWS_AT_ONCE):
                    yield from some
        except (database.error, RuntimeError) as error:  # DuckDB raises RuntimeError for text that is not UTF-8
            raise ValueError(f"is not the table {table} of a scan: {error}") from error
