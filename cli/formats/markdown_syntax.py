"""Escape text and names for Markdown (CommonMark and GitHub's extensions)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENTITIES = {"&": "&amp;", "<": "&lt;", "|": "&#124;"}
"""Characters that are written as entities.

A backslash does not reliably escape a bar, because the effect depends on earlier backslashes.
"""

_BREAK = "&#8203;"
"""A zero-width space. It prevents links for mentions and references on GitHub, where backslashes do not help."""

_SPECIAL = re.compile(
    r"""
    [&<|]
    | (?P<reference> @ | \#(?=\d) | \bGH-(?=\d) )
    | (?P<number> ^\d+(?=[.)]) )
    | [\\`*\[\]~$] | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9])
    | ^[#+\-=>] | :(?=//) | (?<=www)\.
    """,
    re.VERBOSE | re.IGNORECASE,
)


def text(plain: str) -> str:
    """Return one printable line escaped for Markdown, without surrounding space."""
    return _SPECIAL.sub(_escaped, plain.strip())


def _escaped(match: re.Match[str]) -> str:
    special = match[0]
    if match["reference"]:
        return f"{special}{_BREAK}"
    if match["number"]:
        return f"{special}\\"
    return _ENTITIES.get(special, f"\\{special}")


def code(plain: str) -> str:
    """Return printable text as inline code. The text must not contain a backtick."""
    return f"`{plain}`"


def code_block(lines: Iterable[str]) -> str:
    """Return printable lines as a fenced code block."""
    content = "\n".join(lines)
    fence = max(["``", *re.findall("`+", content)], key=len) + "`"
    return f"{fence}\n{content}\n{fence}"


def row(cells: Iterable[str]) -> str:
    """Return a table row from cells that are already Markdown."""
    return f"| {' | '.join(cells)} |"
