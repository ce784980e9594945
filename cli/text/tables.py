"""Rows of text laid out in columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..layout import cut

Row = Sequence[str]


def table(rows: Sequence[Row], right: Collection[int], width: int, split: int, keys: int = 1) -> list[str]:
    """Return rows as lines of at most a width, with the columns ``right`` aligned to the right; the first row is the heading.

    If the columns do not fit, those from ``split`` on become a table of their own, which repeats the first ``keys`` columns.
    """
    columns = range(len(rows[0]))
    lines = _lines(rows, columns, right)
    if max(map(len, lines)) > width:
        lines = [*_lines(rows, columns[:split], right), "", *_lines(rows, [*columns[:keys], *columns[split:]], right)]
    return [cut(line, width) for line in lines]


def _lines(rows: Sequence[Row], columns: Sequence[int], right: Collection[int]) -> list[str]:
    widths = {column: max(len(row[column]) for row in rows) for column in columns}
    return ["  ".join(["", *[_cell(row, column, widths[column], right) for column in columns]]).rstrip() for row in rows]


def _cell(row: Row, column: int, width: int, right: Collection[int]) -> str:
    return row[column].rjust(width) if column in right else row[column].ljust(width)
