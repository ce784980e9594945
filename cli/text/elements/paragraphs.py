"""Wrapped text as lines with a style."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from delegate_sim.foundation.printable import printable
from delegate_sim.releases.catalogue import RELEASES

from ...console.layout import counted, message, wrapped
from ...console.terminal import Line

HEADING, CODE, HINT, BAD, GOOD = "bold", "yellow", "cyan", "bold red", "bold green"
"""The styles of headings, codes, hints, and bad and good results."""


def paragraph(text: str, width: int, indent: str = "", hanging: str | None = None, *, style: str = "") -> list[Line]:
    """Return wrapped text as lines with one style."""
    return [Line(line, style) for line in wrapped(text, width, indent, hanging)]


def indented(text: str, width: int, indent: str, style: str = "") -> list[Line]:
    """Return a paragraph. All lines except the first line are indented by two more spaces."""
    return paragraph(text, width, indent, f"{indent}  ", style=style)


def log_lines(lines: Iterable[str]) -> Iterator[Line]:
    """Yield lines of a log as the runtime prints them: neither wrapped nor styled, and a text of several lines as such."""
    for line in lines:
        yield from [Line(printable(part)) for part in line.split("\n")]


def fact(title: str, text: str, width: int) -> list[Line]:
    """Return a title with a paragraph to its right."""
    return paragraph(text, width, f"  {title:14} ", " " * 17)


def heading_lines(title: str, style: str = HEADING) -> list[Line]:
    """Return an empty line and the heading of a section."""
    return [Line(""), Line(title, style)]


def more_lines(number: int, noun: str, indent: str = "  ", *, after: str = "", style: str = "") -> list[Line]:
    """Return a line with the number of items that only ``--verbose`` shows, or nothing if there are none."""
    text = f"{indent}... and {counted(number, f'more {noun}')}{after} (--verbose lists all)"
    return [Line(text, style)] if number else []


def item_lines(texts: Iterable[str], width: int, title: str = "") -> Iterator[Line]:
    """Yield a list of texts. With a title, a heading precedes the list. Without texts, yield nothing."""
    for number, text in enumerate(texts):
        if title and not number:
            yield from heading_lines(title)
        yield from paragraph(message(text), width, "  - ", "    ")


TableRow = Sequence[str]

_GAP = 2
_NARROWEST_TEXT = 24
"""The smallest width for text in a table. If less width remains, the text is put into a second table."""


def table(
    rows: Sequence[TableRow],
    right: Collection[int],
    width: int,
    keys: int = 1,
    indent: int = 2,
    optional: Sequence[int] = (),
) -> Iterator[Line]:
    """Yield rows as lines that fit a width. The columns listed in ``right`` are right-aligned.

    If the columns do not fit, the ``optional`` columns are left out, those without a number above 0 first, and then in the given
    order. Text in the last column is wrapped. If text still does not fit, each row has it in lines of its own. Numbers that do
    not fit are moved to further tables, which repeat the first ``keys`` columns. So nothing is cut.
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

    kept = [*range(len(sizes))]
    is_empty = {column: all(row[column] in ("", "-", "0") for row in rows[1:]) for column in optional}
    for column in sorted(optional, key=lambda column: not is_empty[column]):
        if not fits(kept):
            kept.remove(column)
    groups = [kept[: keys + 1]]
    for column in kept[keys + 1 :]:
        wider = [*groups[-1], column]
        groups[-1:] = [wider] if fits(wider) else [groups[-1], [*range(keys), column]]  # bounded: the columns of a table

    def is_unwrapped(group: Sequence[int]) -> bool:
        return sum([sizes[column] + _GAP for column in group]) <= room

    below = [column for group in groups[1:] for column in group[keys:]]
    below = below if is_unwrapped(groups[0]) and not any(column in right for column in below) else []
    groups = groups[:1] if below else groups
    # Environment variables are ignored, so that the lines are the same on every terminal and on a pipe.
    console = Console(width=room, color_system=None, force_terminal=False, legacy_windows=False, _environ={})
    for number, group in enumerate(groups):
        if number:
            yield Line("")
        before = " " * indent  # bounded: by the callers
        if is_unwrapped(group):  # no text is wrapped, so the slow layout is not needed
            for row in rows:
                cells = [_padded(row[column], sizes[column] - cell_len(row[column]), column in right) for column in group]
                yield Line(f"{before}{(' ' * _GAP).join(cells)}".rstrip())
                yield from _texts_below(rows[0], row, below, width, f"{before}    ")
            continue
        unwrapped = [*group[:-1], *right] if fits(group) else ()
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        for column in group:
            grid.add_column(justify="right" if column in right else "left", no_wrap=column in unwrapped, overflow="fold")
        for row in rows:
            grid.add_row(*[Text(row[column]) for column in group])
        for line in console.render_lines(grid, pad=False):
            yield Line(f"{before}{''.join([segment.text for segment in line])}".rstrip())


def _texts_below(titles: TableRow, row: TableRow, columns: Sequence[int], width: int, indent: str) -> Iterator[Line]:
    """Yield the texts of a row that do not fit into its line. If there are several columns, each text has its title."""
    if len(columns) > 1 and row is titles:
        return
    for column in columns:
        if row[column]:
            text = f"{titles[column]}: {row[column]}" if len(columns) > 1 else row[column]
            yield from paragraph(text, width, indent, f"{indent}  ")


def _padded(cell: str, spaces: int, is_right: bool) -> str:
    size = len(cell) + spaces
    return cell.rjust(size) if is_right else cell.ljust(size)


_NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)"
"""The pattern of a number. Digits in names such as ``CONV_2D`` and ``INT8`` do not match."""


def without_numbers(text: str) -> str:
    """Replace the numbers in a text by a placeholder. Texts that differ only in numbers become equal.

    >>> without_numbers("CONV_2D of 3 x 64") == without_numbers("CONV_2D of 5 x 1024")
    True
    """
    return re.sub(_NUMBER, "\0", text)


def with_ranges(texts: Sequence[str]) -> str:
    """Merge texts that differ only in numbers into one text with ranges.

    >>> with_ranges(["size [1,64]", "size [1,8]"])
    'size [1,8 to 64]'
    """
    first = texts[0]
    if all(text == first for text in texts):
        return first
    columns = [list(dict.fromkeys(column)) for column in zip(*[re.findall(_NUMBER, text) for text in texts], strict=True)]
    ends = [[min(column, key=float), max(column, key=float)][: len(column)] for column in columns]
    ranges = iter([" to ".join(own) for own in ends])
    return re.sub(_NUMBER, lambda _: next(ranges), first)


def spans(releases: Sequence[str]) -> list[str]:
    """Return names of releases, with spans such as ``tf-2.13 to tf-2.18`` for consecutive releases."""
    spans: list[list[str]] = []
    for release in releases:
        position = RELEASES.index(release) if release in RELEASES else -1
        follows = spans and position > 0 and RELEASES[position - 1] == spans[-1][-1]
        if follows and spans[-1][-1].partition("-")[0] == release.partition("-")[0]:
            spans[-1].append(release)
        else:
            spans.append([release])
    return [span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span in spans]
