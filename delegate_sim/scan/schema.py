"""The columns of a scan's two tables.

``docs/scan.md`` is generated from these columns, and every output format has the columns in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..foundation.columns import INTEGER, NUMBER, TEXT, Column, keys, within
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
    replace(column, is_optional=False)  # every row has all columns
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
