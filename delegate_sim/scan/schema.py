"""The columns of a scan's two tables.

``docs/scan.md`` is generated from these columns, and every output format has the columns in this order.
"""

from __future__ import annotations

from dataclasses import dataclass

TEXT, INTEGER, NUMBER = "text", "integer", "number"
_SQL_TYPES = {TEXT: "TEXT", INTEGER: "BIGINT", NUMBER: "DOUBLE"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: the name, the type of the values, and the meaning. Any value may be absent."""

    name: str
    type: str
    meaning: str


RUNS = "runs"
CAUSES = "causes"

_KEY = (
    Column("model", TEXT, "the model's path, address in a bundle, or URL"),
    Column("target", TEXT, "the target as the command line takes it"),
)
RUN_COLUMNS = (
    *_KEY,
    Column("sha256", TEXT, "the digest of the model's content"),
    Column("size", INTEGER, "bytes of the model"),
    Column("delegate", TEXT, "the delegate's name"),
    Column("runtime", TEXT, "the release of the runtime"),
    Column("rule_set", TEXT, "the version of the delegate's rules"),
    Column("error", TEXT, "why there is no answer; the columns after it are then absent"),
    Column("outcome", TEXT, "delegated, none, refused or restored, with a note where the model cannot run at all"),
    Column("nodes", INTEGER, "nodes of all subgraphs"),
    Column("delegated_nodes", INTEGER, "those that the delegate takes"),
    Column("delegated_share", NUMBER, "their share of nodes, from 0 to 1; 0 if the delegate fails or the model does not run"),
    Column("partitions", INTEGER, "partitions, as the runtime counts them"),
    Column("delegate_kernels", INTEGER, "those that are the delegate's"),
    Column("border_bytes", INTEGER, "bytes into and out of the delegate's kernels in one inference"),
    Column("multiply_adds", INTEGER, "multiply-adds of one inference"),
    Column("delegated_multiply_adds", INTEGER, "those in nodes that the delegate takes"),
    Column("multiply_add_share", NUMBER, "their share of multiply-adds, likewise; absent for a model without multiply-adds"),
    Column("delegated_operators", TEXT, "the operators of the delegated nodes, as a JSON list"),
    Column("refusal_code", TEXT, "the code of what refuses the whole graph"),
    Column("refusal", TEXT, "what it says"),
    Column("log_line", TEXT, "the first line that the runtime prints of it"),
)
CAUSE_COLUMNS = (
    *_KEY,
    Column("code", TEXT, "the code of a reason (delegate-sim explain CODE)"),
    Column("problem", TEXT, "what kind of problem it is: operator, operator-version, driver, type, rank and so on"),
    Column("operator", TEXT, "the operator of the nodes that have it"),
    Column("nodes", INTEGER, "how many nodes stay on the CPU with it as their first reason"),
    Column("operator_nodes", INTEGER, "how many nodes of this operator the model has"),
    Column("multiply_adds", INTEGER, "the multiply-adds of those that stay on the CPU"),
    Column("reason", TEXT, "what it says of one of them"),
    Column("change", TEXT, "what to change, where that is known"),
)
COLUMNS = {RUNS: RUN_COLUMNS, CAUSES: CAUSE_COLUMNS}


def sql_type(column: Column) -> str:
    """Return the type of a column's values in SQLite and DuckDB."""
    return _SQL_TYPES[column.type]


def declaration(table: str) -> str:
    """Return the columns of a table as an SQL declaration for SQLite and DuckDB.

    >>> declaration(CAUSES).partition(",")[0]
    'model TEXT'
    """
    return ", ".join([f"{column.name} {sql_type(column)}" for column in COLUMNS[table]])


def names(table: str) -> list[str]:
    """Return the names of a table's columns."""
    return [column.name for column in COLUMNS[table]]
