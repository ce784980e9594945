"""Query the tables of scans with DuckDB."""

from __future__ import annotations

import csv
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..delegates.registry import DELEGATE_NAMES, VELA_NAMES, find_live
from ..diagnosis.causes.change import IF_TAKEN, Assumed
from ..errors import LimitError, OptionError
from ..releases.catalogue import parse_release
from ..results.report.measures import NOT_RUNNING, TAKEN
from .duckdb_tables import DuckDb, interruptible, parquet_source
from .journal import ScanError
from .output import format_for, read_tables, table_files
from .schema import COLUMNS, RUNS, batches, declaration, sql_type, total_size
from .totals import TargetTotals

BEFORE = "before_"
"""Prefix for the table names of an earlier scan."""

_NOT_RUNNING = ", ".join([f"'{outcome}'" for outcome in sorted(NOT_RUNNING)])

_RESULTS: tuple[str, ...] = (
    f"; (does not help|helps only with {Assumed.OTHERS.value}|not simulated|{re.escape(IF_TAKEN)}): .*$",
    "; not simulated$",
    r" \([\d,]+ of [\d,]+ nodes[^()]*\)",
    r" \(not simulated: [^()]*\)",
)
"""Regular expressions that match the results in the advice of a table."""


@dataclass(frozen=True, slots=True)
class Question:
    """A predefined question."""

    meaning: str
    sql: str
    needs_earlier: bool = False


_LONGEST_ADVICE = 4096


def without_results(column: str) -> str:
    """Return an SQL expression that removes model-specific parts from advice: results, input sizes and partitions."""
    column = f"left({column}, {_LONGEST_ADVICE})"  # bounds the memory for the results of the replacements
    patterns = [*[(pattern, "") for pattern in _RESULTS], (r", such as .*\]: in ", ": in "), (r"=\d+ or more: ", ": ")]
    for pattern, replacement in patterns:
        column = f"regexp_replace({column}, '{pattern}', '{replacement}', 'g')"
    return column


VIEWS: Mapping[str, Question] = {
    "top-causes": Question(
        "what keeps the most multiply-adds on the CPU, over all models",
        f"""
        WITH changes AS (
            SELECT target, code, operator, model, {without_results("change")} AS change, sum(nodes) AS nodes,
                   sum(multiply_adds) AS multiply_adds
            FROM causes GROUP BY ALL
        ), counted AS (
            SELECT target, code, operator, change, count(*) AS models, sum(nodes) AS nodes, sum(multiply_adds) AS multiply_adds
            FROM changes GROUP BY ALL
        ), largest AS (
            SELECT target, code, operator, change, models AS models_with_change FROM counted QUALIFY row_number() OVER (
                PARTITION BY target, code, operator ORDER BY multiply_adds DESC, nodes DESC, models DESC, change
            ) = 1
        )
        SELECT changes.target, changes.code, changes.operator, count(DISTINCT model) AS models, sum(nodes)::BIGINT AS nodes,
               sum(multiply_adds)::BIGINT AS multiply_adds, title, largest.change, models_with_change
        FROM changes LEFT JOIN titles USING (code) JOIN largest ON changes.target = largest.target
             AND changes.code = largest.code AND changes.operator IS NOT DISTINCT FROM largest.operator
        GROUP BY changes.target, changes.code, changes.operator, title, largest.change, models_with_change
        ORDER BY multiply_adds DESC, nodes DESC, target, code, operator
        """,
    ),
    "best-changes": Question(
        "which change of a driver, a converter or a model helps the most models (column alone: the number of models that "
        "need only this change)",
        f"""
        WITH changes AS (
            SELECT target, model, sum(nodes) AS nodes, sum(multiply_adds) AS multiply_adds,
                   CASE WHEN problem IN ('operator', 'operator-version', 'attribute', 'operands', 'shape', 'constant')
                             AND NOT starts_with(change, operator || ' ')
                        THEN operator || ': ' ELSE '' END || {without_results("change")} AS change
            FROM causes WHERE change IS NOT NULL GROUP BY ALL
        ), counted AS (SELECT *, count(*) OVER (PARTITION BY target, model) AS of_model FROM changes)
        SELECT target, change, count(*) AS models, count_if(of_model = 1) AS alone, sum(nodes)::BIGINT AS nodes,
               sum(multiply_adds)::BIGINT AS multiply_adds
        FROM counted GROUP BY ALL ORDER BY models DESC, multiply_adds DESC, target, change
        """,
    ),
    "refused-operators": Question(
        "operators that no target delegates in any model",
        """
        WITH refused AS (SELECT DISTINCT model, operator, operator_nodes FROM causes),
        taken AS (SELECT DISTINCT unnest(from_json(delegated_operators, '["VARCHAR"]')) AS operator
                  FROM (SELECT DISTINCT delegated_operators FROM runs WHERE json_valid(delegated_operators)))
        SELECT operator, count(DISTINCT model) AS models, sum(operator_nodes)::BIGINT AS nodes
        FROM refused ANTI JOIN taken USING (operator)
        GROUP BY operator ORDER BY models DESC, nodes DESC, operator
        """,
    ),
    "best-targets": Question(
        "for each model, the targets that run the most multiply-adds (ties: the most nodes), ranked as analyze ranks them: "
        "accelerators before the CPU, the CPU before plugins, right results before wrong ones",
        """
        WITH ranked AS (
            SELECT runs.*, is_deprecated, struct_pack(a := delegated_multiply_adds, b := delegated_nodes) AS share
            FROM runs LEFT JOIN delegates USING (delegate)
            WHERE error IS NULL AND outcome = 'delegated' AND delegated_nodes > 0
            QUALIFY rank() OVER (PARTITION BY model ORDER BY place, coalesce(wrong_results, 0) > 0) = 1
        ), best AS (
            -- A deprecated delegate is best only if no other delegate takes nodes, or beside one with the same shares.
            SELECT * FROM ranked QUALIFY share = coalesce(
                max(share) FILTER (NOT is_deprecated) OVER (PARTITION BY model), max(share) OVER (PARTITION BY model)
            )
        )
        SELECT model, best.target, coalesce(best.delegated_nodes, 0) AS delegated_nodes, all_models.nodes,
               coalesce(best.delegated_multiply_adds, 0) AS delegated_multiply_adds, all_models.multiply_adds,
               coalesce(best.delegate_kernels, 0) AS delegate_kernels, wrong_results, possibly_wrong_results
        FROM (SELECT model, max(nodes) AS nodes, max(multiply_adds) AS multiply_adds
              FROM runs WHERE error IS NULL GROUP BY model) all_models LEFT JOIN best USING (model)
        ORDER BY model, delegate_kernels, target
        """,
    ),
    "wrong-numbers": Question(
        "models that a target computes wrongly, or may compute wrongly, with the conditions; targets whose numbers are not known "
        "are left out",
        """
        SELECT model, target, wrong_results, possibly_wrong_results, number_codes AS codes
        FROM runs WHERE error IS NULL AND wrong_results + possibly_wrong_results > 0
        ORDER BY wrong_results DESC, possibly_wrong_results DESC, model, target
        """,
    ),
    "releases": Question(
        "what each release of the runtime changes compared with the previous release, for scans with several --runtime",
        """
        SELECT a.model, a.delegate, a.runtime, b.runtime AS later, a.outcome, b.outcome AS later_outcome,
               a.delegated_nodes AS nodes, b.delegated_nodes AS later_nodes, a.delegate_kernels AS kernels,
               b.delegate_kernels AS later_kernels, b.delegated_multiply_adds - a.delegated_multiply_adds AS multiply_adds_won
        FROM runs a JOIN runs b ON a.model = b.model AND a.delegate = b.delegate
             AND replace(a.target, a.runtime, '') = replace(b.target, b.runtime, '')
        JOIN release_order x ON x.runtime = a.runtime
        JOIN release_order y ON y.runtime = b.runtime AND y.position = x.position + 1
        WHERE a.error IS NULL AND b.error IS NULL
              AND (replace(a.outcome, ', as predicted', ''), a.delegated_nodes, a.delegate_kernels)
                  IS DISTINCT FROM (replace(b.outcome, ', as predicted', ''), b.delegated_nodes, b.delegate_kernels)
        ORDER BY abs(multiply_adds_won) DESC, abs(later_nodes - a.delegated_nodes) DESC, a.model, a.target, x.position
        """,
    ),
    "regressions": Question(
        "models that delegate less than in an earlier scan, need more kernels, have more wrong results, or no longer run; needs "
        "two scans",
        f"""
        WITH was AS (SELECT DISTINCT target, runtime FROM before_runs), is_now AS (SELECT DISTINCT target, runtime FROM runs),
        compared AS (
            SELECT was.target AS earlier, is_now.target FROM was JOIN is_now ON was.target = is_now.target OR (
                was.target NOT IN (SELECT target FROM is_now) AND is_now.target NOT IN (SELECT target FROM was)
                AND replace(was.target, was.runtime, '') = replace(is_now.target, is_now.runtime, '')
            )
        )
        SELECT b.model, b.target, a.outcome AS was, b.outcome AS now, a.delegated_nodes AS nodes_before,
               b.delegated_nodes AS nodes_now, a.delegate_kernels AS kernels_before, b.delegate_kernels AS kernels_now,
               a.delegated_multiply_adds - b.delegated_multiply_adds AS multiply_adds_lost,
               a.wrong_results AS wrong_before, b.wrong_results AS wrong_now, b.error
        FROM compared JOIN before_runs a ON a.target = earlier JOIN runs b ON b.target = compared.target AND b.model = a.model
        WHERE a.error IS NULL AND (b.error IS NOT NULL OR b.delegated_nodes < a.delegated_nodes
              OR b.delegated_multiply_adds < a.delegated_multiply_adds
              OR (b.delegated_nodes = a.delegated_nodes AND b.delegate_kernels > a.delegate_kernels)
              OR b.wrong_results > a.wrong_results
              OR (b.outcome IN ({_NOT_RUNNING}) AND a.outcome NOT IN ({_NOT_RUNNING})))
        ORDER BY multiply_adds_lost DESC NULLS FIRST, b.model, b.target
        """,
        needs_earlier=True,
    ),
}


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a question."""

    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]


def ask(scans: Sequence[str], sql: str) -> Result:
    """Query the tables ``runs`` and ``causes`` of the last file in ``scans``.

    If there are two files, the tables of the first file are called ``before_runs`` and ``before_causes``. The table ``titles``
    has a short title for each code. The table ``delegates`` has the place of each delegate in rankings, and whether the delegate
    is deprecated. The table ``release_order`` has the runtime releases of the last scan, oldest first. A query can read only
    these tables, and has limited memory and processor time. Raises ScanError if a file is not the output of a scan, DuckDB is
    not installed, the query is wrong, or a limit is exceeded.
    """
    return _ask(scans, sql)[0]


def ask_with_totals(scans: Sequence[str], sql: str) -> tuple[Result, Mapping[str, TargetTotals]]:
    """Answer a query like ``ask``, and return the totals of each target of the last file too."""
    totals, result = _ask(scans, _TOTALS, sql)
    fields = totals.columns[1:]
    return result, {target: TargetTotals(**dict(zip(fields, counts, strict=True))) for target, *counts in totals.rows}


def _ask(scans: Sequence[str], *queries: str) -> list[Result]:
    size = sum([total_size(dict(table_files(path))) for path in scans])
    database = DuckDb(size)
    connection = database.connection
    with database.limited("the query"):
        for prefix, path in zip(("", BEFORE), reversed(scans), strict=False):
            with _naming_scan(path, database), interruptible():
                _fill(connection, prefix, path)
        _add_delegates(connection)
        _order_releases(connection)
        database.lock()
        try:
            for query in queries:
                database.check_statements(query)
            return [Result(*database.rows(query)) for query in queries]
        except database.limit_errors:
            raise
        except database.error as error:
            raise ScanError(f"the query is refused: {str(error).splitlines()[0]}") from error


_TOTALS = f"""
    SELECT target,
           count(*) AS models,
           count(*) FILTER (NOT is_known) AS without_answer,
           count(*) FILTER (is_running AND nodes > 0 AND nodes = delegated_nodes) AS whole,
           count(*) FILTER (is_running AND delegated_nodes = 0) AS untouched,
           count(*) FILTER (is_known AND NOT is_running) AS failing,
           coalesce(sum(nodes) FILTER (is_known), 0)::BIGINT AS nodes,
           coalesce(sum(delegated_nodes) FILTER (is_running), 0)::BIGINT AS delegated_nodes,
           coalesce(sum(multiply_adds) FILTER (is_known), 0)::HUGEINT AS multiply_adds,
           coalesce(sum(delegated_multiply_adds) FILTER (is_running), 0)::HUGEINT AS delegated_multiply_adds,
           count(*) FILTER (is_known AND wrong_results IS NOT NULL) AS judged,
           count(*) FILTER (is_running AND wrong_results > 0) AS wrong,
           coalesce(sum(delegated_nodes) FILTER (is_running AND wrong_results > 0), 0)::BIGINT AS nodes_of_wrong,
           coalesce(sum(delegated_multiply_adds) FILTER (is_running AND wrong_results > 0), 0)::HUGEINT AS multiply_adds_of_wrong,
           count(*) FILTER (is_running AND possibly_wrong_results > 0 AND coalesce(wrong_results, 0) = 0) AS possibly_wrong
    FROM (SELECT *, coalesce(error, '') = '' AS is_known, is_known AND outcome IN ('{TAKEN}', 'none') AS is_running, rowid
          FROM runs)
    GROUP BY target ORDER BY min(rowid)
"""
"""The fields of ``TargetTotals`` for each target, by name, in the order of the targets in the scan."""

_BATCH = 10_000


@contextmanager
def _naming_scan(path: str, database: DuckDb) -> Iterator[None]:
    """Raise the errors of reading a scan as ScanError with the name of the file."""
    try:
        yield
    except OSError as error:
        raise ScanError(f"{error.filename or path}: {error.strerror or error}") from error
    except LimitError as error:
        raise ScanError(f"{path}: {error.reason}") from error
    except database.limit_errors:
        raise
    except (ValueError, TypeError, OverflowError, RuntimeError, csv.Error, sqlite3.Error, database.error) as error:
        # DuckDB raises RuntimeError for text that is not UTF-8.
        raise ScanError(f"{path}: is not the output of a scan") from error


def _fill(connection: Any, prefix: str, path: str) -> None:
    form = format_for(path)
    for table in COLUMNS:
        connection.execute(f"CREATE TABLE {prefix}{table} ({declaration(table)})")
    if form.is_parquet:
        for table, file in table_files(path):
            query, parameters = parquet_source(connection, file, table)
            connection.execute(f"INSERT INTO {prefix}{table} {query}", parameters)
        return
    tables = read_tables(path)
    for table in COLUMNS:
        # The parameters are one list per column, because DuckDB needs much more time for one parameter per value.
        lists = ", ".join([f"unnest(?::{sql_type(column)}[])" for column in COLUMNS[table]])
        for some in batches(tables[table], _BATCH):
            columns = [list(values) for values in zip(*some, strict=True)]
            connection.execute(f"INSERT INTO {prefix}{table} SELECT {lists}", columns)


def _add_delegates(connection: Any) -> None:
    delegates = [name for (name,) in connection.execute(f"SELECT DISTINCT delegate FROM {RUNS}").fetchall()]
    known = [find_live(name) for name in delegates if name in (*DELEGATE_NAMES, *VELA_NAMES)]
    titles = {code: kind.title for delegate in known for code, kind in delegate.kinds.items()}
    connection.execute("CREATE TABLE titles (code TEXT, title TEXT)")
    connection.execute("INSERT INTO titles SELECT unnest(?::TEXT[]), unnest(?::TEXT[])", [list(titles), list(titles.values())])
    connection.execute("CREATE TABLE delegates (delegate TEXT, place BIGINT, is_deprecated BOOLEAN)")
    rows = [[own.name for own in known], [int(own.ranking) for own in known], [bool(own.deprecated) for own in known]]
    connection.execute("INSERT INTO delegates SELECT unnest(?::TEXT[]), unnest(?::BIGINT[]), unnest(?::BOOLEAN[])", rows)


def _order_releases(connection: Any) -> None:
    runtimes = {runtime for (runtime,) in connection.execute(f"SELECT DISTINCT runtime FROM {RUNS}").fetchall() if runtime}
    try:
        ordered = sorted(runtimes, key=lambda runtime: parse_release(runtime).order)
    except OptionError:
        ordered = sorted(runtimes)
    connection.execute("CREATE TABLE release_order (runtime TEXT, position BIGINT)")
    insertion = "INSERT INTO release_order SELECT unnest(?::TEXT[]), unnest(?::BIGINT[])"
    connection.execute(insertion, [ordered, list(range(len(ordered)))])
