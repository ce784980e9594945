"""Wrapped text as lines with a style."""

from __future__ import annotations

from ...console.layout import wrapped
from ...console.terminal import Line


def paragraph(text: str, width: int, indent: str = "", hanging: str | None = None, *, style: str = "") -> list[Line]:
    """Return wrapped text as lines with one style."""
    return [Line(line, style) for line in wrapped(text, width, indent, hanging)]


def indented(text: str, width: int, indent: str, style: str = "") -> list[Line]:
    """Return a paragraph. All lines except the first line are indented by two more spaces."""
    return paragraph(text, width, indent, f"{indent}  ", style=style)


def fact(title: str, text: str, width: int) -> list[Line]:
    """Return a title with a paragraph to its right."""
    return paragraph(text, width, f"  {title:14} ", " " * 17)
