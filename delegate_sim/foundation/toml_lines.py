"""Find the line of a TOML file that sets a key. The TOML parser does not report line numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from . import toml


def line_of(text: str, key: Sequence[str | int]) -> int:
    """Return the number of the line that sets a key, counted from 1.

    If no line sets the key, return the line of the nearest enclosing table, or 1 if there is none. If several statements set
    the key, return the first line. ``key`` has the names of tables and keys, and indices into arrays of tables.
    """
    lines = text.splitlines(keepends=True)
    for length in range(len(key), 0, -1):
        statement = _statement(lines, key[:length])
        if statement is not None:
            return _within(lines, *statement, [part for part in key[:length] if isinstance(part, str)])
    return 1


def _statement(lines: Sequence[str], key: Sequence[str | int]) -> tuple[int, int] | None:
    """Return the first and the last line of the statement that sets a key, or None. Lines are counted from 0."""
    start = 0
    for end in range(len(lines)):
        try:
            content = toml.loads("".join(lines[: end + 1]))
        except toml.TOMLDecodeError:
            continue  # inside a statement that spans several lines
        if _has(content, key):
            return start, end
        start = end + 1
    return None


def _has(content: Any, key: Sequence[str | int]) -> bool:
    for part in key:
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _within(lines: Sequence[str], start: int, end: int, names: Sequence[str]) -> int:
    """Return the first line between ``start`` and ``end`` that contains the last name of the key, counted from 1.

    If no line contains this name, return the line ``start``. ``start`` and ``end`` are counted from 0.
    """
    word = re.compile(rf"(?<![\w-]){re.escape(names[-1])}(?![\w-])") if names else None
    for number, line in enumerate(lines[start : end + 1], start):
        if word is not None and word.search(line.partition("#")[0]):
            return number + 1
    return start + 1
