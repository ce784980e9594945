"""Parquet files whose footers would take much memory."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow")
pytest.importorskip("duckdb", reason="needs DuckDB")

from delegate_sim.errors import LimitError
from delegate_sim.scan import duckdb_tables, schema
from delegate_sim.scan.duckdb_tables import parquet_rows
from delegate_sim.scan.journal import ScanError
from delegate_sim.scan.output import format_for, read_tables
from delegate_sim.scan.schema import CAUSES, FILLED, RUNS, names

_LIST_OF_20_MILLION = b"\x19\xfc\x80\xda\xc4\x09"


@pytest.fixture
def parquet_file(tmp_path):
    """A file of 44 bytes that claims 20 million row groups."""
    footer = b"\x15\x02\x19\x1c\x48\x06schema\x15\x00\x00\x16\x00" + _LIST_OF_20_MILLION + bytes(10)
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return str(path)


def test_a_footer_that_claims_too_many_row_groups_is_refused_before_duckdb_reads_it(parquet_file):
    with pytest.raises(ValueError, match=r"^is not a Parquet file$"):
        next(iter(parquet_rows(parquet_file, RUNS)))


def test_a_long_footer_is_refused(parquet_file, monkeypatch):
    monkeypatch.setattr(duckdb_tables, "_LONGEST_FOOTER", 20)
    with pytest.raises(ScanError, match=r"t\.parquet: the footer of the Parquet file has more than 20 bytes"):
        next(iter(parquet_rows(parquet_file, RUNS)))


@pytest.mark.parametrize(("count", "fits"), [(200, True), (2_000, False)])
def test_the_rows_of_a_result_leave_memory_for_the_writer(monkeypatch, count, fits):
    monkeypatch.setattr(duckdb_tables, "_SHARE_OF_ROWS", 400)
    database = duckdb_tables.DuckDb(0)
    with nullcontext() if fits else pytest.raises(ScanError, match="memory"), database.limited("the query"):
        database.rows(f"SELECT repeat('x', 1000) FROM range({count})")


def test_too_many_rows_are_refused_before_one_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "_ALWAYS", 1 << 20)
    path = str(tmp_path / "t.parquet")
    row = tuple(["e" if name in (*FILLED[RUNS], "error") else None for name in names(RUNS)])
    format_for(path).write(path, {RUNS: [row] * 2_000, CAUSES: []})
    with pytest.raises(LimitError, match="its rows are larger than the limit of 1 MiB"):
        read_tables(path)
    monkeypatch.setenv("DELEGATE_SIM_LIMITS", "10")
    assert len(list(read_tables(path)[RUNS])) == 2_000


def test_a_query_that_takes_much_memory(monkeypatch):
    monkeypatch.setattr(duckdb_tables, "_MEMORY", 16 << 20)
    database = duckdb_tables.DuckDb(0)
    with pytest.raises(ScanError, match="the query needs more than 16 MiB of memory"), database.limited("the query"):
        database.rows("SELECT count(DISTINCT range) FROM range(10000000)")


def test_a_query_that_takes_too_long(monkeypatch):
    monkeypatch.setattr(duckdb_tables, "_SECONDS", 0)
    database = duckdb_tables.DuckDb(0)
    with pytest.raises(ScanError, match="the query takes more than 0 seconds of processor time"), database.limited("the query"):
        database.rows("SELECT count(*) FROM range(1000000000) a, range(1000000000) b")
