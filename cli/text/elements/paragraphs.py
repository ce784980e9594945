"""Wrapped text as lines with a style."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
