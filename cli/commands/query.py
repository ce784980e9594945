"""``delegate-sim query``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from delegate_sim.foundation.limits import exhausted
from delegate_sim.foundation.outputs import declare_outputs
from delegate_sim.scan.journal import ScanError
from delegate_sim.scan.output import format_for
from delegate_sim.scan.questions import VIEWS, Result, ask, ask_with_totals
from delegate_sim.scan.totals import TargetTotals

from ..console.layout import counted, help_rows, message
from ..console.output_file import FileCommand, Outputs, gathered, output_option, single_output
from ..console.terminal import TEXT_OR_JSON, Line, format_option, width, write_result
from ..exits import DONE
from ..formats.comma_separated import cell, sheet
from ..text.elements.paragraphs import paragraph, table

_DEFAULT_VIEW, _CHANGES_VIEW = "top-causes", "best-changes"
_CAUSES_SHOWN = 10
_SHOWN = 25
_EPILOG = (
    """\b
Views:
"""
    + help_rows([(f"{name:<18} ", view.meaning) for name, view in VIEWS.items()])
    + """

\b
Examples:
  delegate-sim query zoo.parquet
  delegate-sim query zoo.parquet --view best-changes
  delegate-sim query monday.parquet friday.parquet --view regressions
  delegate-sim query zoo.parquet --sql "SELECT outcome, count(*) FROM runs GROUP BY ALL"

Write SQL for DuckDB. The tables are runs and causes. With two scans, the tables of the first scan are before_runs and
before_causes.
"""
)


@click.command("query", cls=FileCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("scans", metavar="SCAN...", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--view", "name", type=click.Choice(list(VIEWS)), metavar="VIEW", help="A predefined query.", show_default=_DEFAULT_VIEW
)
@click.option("--sql", help="A query in SQL.")
@format_option(None, (*TEXT_OR_JSON, "csv"))
@output_option()
@gathered("outputs", single_output)
def command(scans: Sequence[str], name: str | None, sql: str | None, outputs: Outputs) -> int:
    """Query SCAN, an output of the command scan. To compare two scans, give the earlier scan first."""
    if name is not None and sql is not None:
        raise click.UsageError("give either --view or --sql")
    if sql is None:
        name = name or _DEFAULT_VIEW
    if len(scans) > 2:
        raise click.UsageError("give one scan, or two scans with the earlier scan first")
    if name is not None and VIEWS[name].needs_earlier and len(scans) < 2:
        raise click.UsageError(f"{name} compares two scans: give two scans, the earlier scan first")
    declare_outputs([], [file for scan in scans for _, file in format_for(scan).files(scan)])
    try:
        result, totals = ask_with_totals(scans, VIEWS[name].sql) if name is not None else (ask(scans, str(sql)), {})
        entries = [dict(zip(result.columns, map(_json_value, row), strict=True)) for row in result.rows]
        rows = [[value if isinstance(value, int | float | None) else str(value) for value in row] for row in result.rows]
        columns = list(map(cell, result.columns))  # PIVOT makes columns of the values of a table
        write_result(outputs, lambda: entries, lambda: _text(totals, name, result), lambda: sheet(columns, rows))
    except (MemoryError, RecursionError) as error:
        raise ScanError(f"the query: {exhausted(error).reason}") from error
    return DONE


def _text(totals: Mapping[str, TargetTotals], name: str | None, result: Result) -> Iterator[Line]:
    if name not in (_DEFAULT_VIEW, _CHANGES_VIEW):
        yield from _lines(result)
        return
    for verdict in TargetTotals.verdicts(totals):
        yield from paragraph(message(verdict), width(), "", "  ", style="bold")
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    yield from _change_lines(rows) if name == _CHANGES_VIEW else _cause_lines(rows)


def _cause_lines(causes: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    numbers: dict[str, int] = {}
    for number, cause in enumerate(causes[:_CAUSES_SHOWN], 1):
        start = f"{number}. {cause['title']} ({cause['code']})" if cause["title"] else f"{number}. {cause['code']}"
        operator = f": {cause['operator']}" if cause["operator"] else ""
        yield from paragraph(message(f"{start}{operator}, on {cause['target']}"), width(), "", "   ")
        yield from paragraph(_numbers(cause), width(), "   ", "   ")
        if change := cause["change"]:
            first = numbers.setdefault(change, number)
            text = message(change) if first == number else f"same change as for cause {first}"
            if cause["models_with_change"] < cause["models"]:
                text = f"in {cause['models_with_change']:,} of {counted(cause['models'], 'model')}: {text}"
            yield from paragraph(text, width(), "   ", "     ", style="cyan")
    if len(causes) > _CAUSES_SHOWN:
        yield Line(f"... and {counted(len(causes) - _CAUSES_SHOWN, 'more cause')}: --format csv lists all")
    if not causes:
        yield Line("Nothing stays on the CPU.")


def _change_lines(changes: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    for number, change in enumerate(changes[:_CAUSES_SHOWN], 1):
        yield from paragraph(message(f"{number}. {change['change']}"), width(), "", "   ")
        alone = f"; no other change needed for {counted(change['alone'], 'model')}" if change["alone"] else ""
        yield from paragraph(message(f"on {change['target']}: {_numbers(change)}{alone}"), width(), "   ", "   ")
    if len(changes) > _CAUSES_SHOWN:
        yield Line(f"... and {counted(len(changes) - _CAUSES_SHOWN, 'more change')}: --format csv lists all")
    if not changes:
        yield Line("No change is known.")


def _numbers(row: Mapping[str, Any]) -> str:
    nodes = f"{counted(row['nodes'] or 0, 'node')} in {counted(row['models'], 'model')}"
    return f"{nodes}, {counted(row['multiply_adds'] or 0, 'multiply-add')}"


def _lines(result: Result) -> list[Line]:
    rows = [tuple([_cell(value) for value in row]) for row in result.rows[:_SHOWN]]
    numbers = [
        column
        for column in range(len(result.columns))
        if all(isinstance(row[column], int | float | None) for row in result.rows[:_SHOWN])
    ]
    lines = [*table([tuple(map(message, result.columns)), *rows], numbers, width())]
    if len(result.rows) > _SHOWN:
        lines.append(Line(f"... and {counted(len(result.rows) - _SHOWN, 'more row')}: --format csv lists all"))
    return lines or [Line("nothing")]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}"
    return message(str(value))


def _json_value(value: object) -> object:
    """Return a value of a result. JSON has no number for infinity and for what is not a number, so these become text."""
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
