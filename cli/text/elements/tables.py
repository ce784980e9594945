"""Tables of text with aligned columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...console.layout import cut

TableRow = Sequence[str]

_NARROWEST_TEXT = 16
"""Smallest length to which a text at the end of a line may be cut."""


def table(rows: Sequence[TableRow], right: Collection[int], width: int, split: int, keys: int = 1) -> list[str]:
    """Return a heading row and further rows as lines that fit a width. The columns listed in ``right`` are right-aligned.

    If the columns do not fit, the columns from index ``split`` on form a second table. It repeats the first ``keys`` columns. If
    these tables are still too wide, the columns are spread over more tables. Only text at the end of a line is cut.
    """
    columns = range(len(rows[0]))
    sizes = [max(len(row[column]) for row in rows) for column in columns]
    needs = [size if column in right else min(size, _NARROWEST_TEXT) for column, size in enumerate(sizes)]

    def shows(group: Sequence[int]) -> bool:
        return sum([sizes[column] + 2 for column in group[:-1]]) + needs[group[-1]] + 2 <= width

    if max(map(len, _lines(rows, columns, right))) <= width:
        groups: list[list[int]] = [[*columns]]
    else:
        groups = [[*columns[:split]], [*columns[:keys], *columns[split:]]]
        if not all(map(shows, groups)):
            groups = [[*columns[: keys + 1]]]
            for column in columns[keys + 1 :]:
                wider = [*groups[-1], column]
                groups[-1:] = [wider] if shows(wider) else [groups[-1], [*columns[:keys], column]]
    tables = [_lines(rows, group, right) for group in groups]
    lines = [line for number, lines in enumerate(tables) for line in (*([""] if number else []), *lines)]
    return [cut(line, width) for line in lines]


def _lines(rows: Sequence[TableRow], columns: Sequence[int], right: Collection[int]) -> list[str]:
    widths = {column: max(len(row[column]) for row in rows) for column in columns}
    return ["  ".join(["", *[_cell(row, column, widths[column], right) for column in columns]]).rstrip() for row in rows]


def _cell(row: TableRow, column: int, width: int, right: Collection[int]) -> str:
    return row[column].rjust(width) if column in right else row[column].ljust(width)
