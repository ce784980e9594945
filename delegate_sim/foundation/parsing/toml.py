"""Read TOML with ``tomllib`` (``tomli`` on Python 3.10), but limit keys and integers, and quote nothing in messages."""

from __future__ import annotations

import re
from typing import Any

from ..work_budget import spend_steps
from .toml_lines import line_of
from .toml_parser import parser

TOMLDecodeError = parser.TOMLDecodeError

_MOST_PARTS = 64
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:\.[ \t]*{_PART}){{{_MOST_PARTS}}}")
"""Pattern of a key with too many parts. Reading time grows with the square of the number of parts."""


_QUOTES_NOTHING = re.compile(r"Invalid|Unclosed|Unterminated|Unescaped|Escaped|Expected|Cannot overwrite a value")
"""Matches the beginning of messages of the parser that quote nothing of the document."""
_PLACE = re.compile(r"\(at (?:line \d+, column \d+|end of document)\)$")
_MOST_BITS = 64


def loads(text: str) -> dict[str, Any]:
    """Read a TOML document. Raise TOMLDecodeError for a syntax error, and RecursionError if arrays are nested too deeply.

    The messages of errors quote nothing of the document. Integers have at most 64 bits.
    """
    spend_steps(len(text), "reading TOML")
    long_key = _LONG_KEY.search(text)
    if long_key is not None:
        line = text.count("\n", 0, long_key.start()) + 1
        raise TOMLDecodeError(f"A key has more than {_MOST_PARTS} parts (at line {line}, column 1)")
    try:
        content: dict[str, Any] = parser.loads(text)
    except TOMLDecodeError as error:
        raise TOMLDecodeError(_without_quotes(str(error))) from None
    except ValueError:  # a number with thousands of digits, or a date that does not exist
        raise TOMLDecodeError("A value cannot be read") from None
    key = _large_integer(content)
    if key is not None:
        raise TOMLDecodeError(f"An integer has more than {_MOST_BITS} bits (at line {line_of(text, key)}, column 1)")
    return content


def _without_quotes(line: str) -> str:
    if _QUOTES_NOTHING.match(line):
        return line
    place = _PLACE.search(line)
    problem = "A key is set twice" if line.startswith(("Cannot", "Duplicate")) else "A character is not allowed"
    return f"{problem} {place[0]}" if place else problem


def _large_integer(content: dict[str, Any]) -> tuple[str | int, ...] | None:
    """Return the key of an integer with more than 64 bits, or None."""
    containers: list[tuple[tuple[str | int, ...], Any]] = [((), content)]
    while containers:
        key, container = containers.pop()
        for name, value in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(value, dict | list):
                containers.append(((*key, name), value))
            elif isinstance(value, int) and not -(1 << _MOST_BITS - 1) <= value < 1 << _MOST_BITS - 1:
                return (*key, name)
    return None
