"""Find the line of a TOML file that sets a key, which the parser does not report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from . import toml


def line_of(text: str, key: Sequence[str | int]) -> int:
    """Return the number of the line, from 1, that sets a key, or else the nearest table around it.

    ``key`` has names of tables and keys, and numbers for the elements of arrays of tables. A key is set by the first statement
    after which a parser knows it.
    """
    lines = text.splitlines(keepends=True)
    for length in range(len(key), 0, -1):
        statement = _statement(lines, key[:length])
        if statement is not None:
            return _within(lines, *statement, [part for part in key[:length] if isinstance(part, str)])
    return 1


def _statement(lines: Sequence[str], key: Sequence[str | int]) -> tuple[int, int] | None:
    """Return first and last line of the statement, counted from 0."""
    start = 0
    for end in range(len(lines)):
        try:
            content = toml.loads("".join(lines[: end + 1]))
        except toml.TOMLDecodeError:
            continue  # in the middle of a statement of several lines
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
    """Return the line inside a statement that has the last name, or else its first line."""
    word = re.compile(rf"(?<![\w-]){re.escape(names[-1])}(?![\w-])") if names else None
    for number in range(start, end + 1):
        if word is not None and word.search(lines[number].partition("#")[0]):
            return number + 1
    return start + 1
