"""Text and names escaped for Markdown, so that neither CommonMark nor GitHub's extensions interpret them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENTITIES = {"&": "&amp;", "<": "&lt;", "|": "&#124;"}
"""A bar gets no backslash: whether that divides cells depends on the backslashes before it."""

_BREAK = "&#8203;"
"""GitHub looks for mentions and references once Markdown is done with escapes, so that only a separator helps."""

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
    """Return one printable line as text, without space around it."""
    return _SPECIAL.sub(_escaped, plain.strip())


def _escaped(match: re.Match[str]) -> str:
    special = match[0]
    if match["reference"]:
        return f"{special}{_BREAK}"
    if match["number"]:
        return f"{special}\\"
    return _ENTITIES.get(special, f"\\{special}")


def code(plain: str) -> str:
    """Return printable text without a backtick as code in a line."""
    return f"`{plain}`"


def code_block(lines: Iterable[str]) -> str:
    """Return printable lines as a block of code."""
    content = "\n".join(lines)
    longest_run = max(map(len, re.findall("`+", content)), default=0)
    fence = "`" * max(longest_run + 1, 3)
    return f"{fence}\n{content}\n{fence}"


def row(cells: Iterable[str]) -> str:
    """Return a row of a table, from cells that are Markdown already."""
    return f"| {' | '.join(cells)} |"
