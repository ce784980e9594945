"""Tables of text with aligned columns, laid out by ``rich``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...console.terminal import Line

TableRow = Sequence[str]

_GAP = 2
_NARROWEST_TEXT = 24
"""The smallest width for text in a table. If less width remains, the text is put into a second table."""


def table(rows: Sequence[TableRow], right: Collection[int], width: int, keys: int = 1, indent: int = 2) -> Iterator[Line]:
    """Yield rows as lines that fit a width. The columns listed in ``right`` are right-aligned.

    Columns that do not fit are moved to further tables. Further tables repeat the first ``keys`` columns. Text in the last column
    of a table is wrapped, so nothing is cut.
    """
    from rich.cells import cell_len  # a character may take zero, one or two columns of a terminal
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    room = width - indent
    sizes = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    words = [max([cell_len(word) for cell in column for word in cell.split()], default=0) for column in zip(*rows, strict=True)]

    def fits(columns: Sequence[int]) -> bool:
        *others, last = columns
        least = sizes[last] if last in right else max(words[last], min(sizes[last], _NARROWEST_TEXT))
        return sum([sizes[column] + _GAP for column in others]) + least <= room

    groups = [[*range(len(sizes))][: keys + 1]]
    for column in range(keys + 1, len(sizes)):
        wider = [*groups[-1], column]
        groups[-1:] = [wider] if fits(wider) else [groups[-1], [*range(keys), column]]  # bounded: the columns of a table
    # Environment variables are ignored, so that the lines are the same on every terminal and on a pipe.
    console = Console(width=room, color_system=None, force_terminal=False, legacy_windows=False, _environ={})
    for number, group in enumerate(groups):
        if number:
            yield Line("")
        unwrapped = [*group[:-1], *right] if fits(group) else ()
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        for column in group:
            grid.add_column(justify="right" if column in right else "left", no_wrap=column in unwrapped, overflow="fold")
        for row in rows:
            grid.add_row(*[Text(row[column]) for column in group])
        before = " " * indent  # bounded: by the callers
        for line in console.render_lines(grid, pad=False):
            yield Line(f"{before}{''.join([segment.text for segment in line])}".rstrip())
