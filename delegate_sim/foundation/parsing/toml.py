"""Read TOML with ``tomllib`` (``tomli`` on Python 3.10), but limit keys and integers, and quote nothing in messages."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ..work_budget import spend_bytes, spend_steps

if sys.version_info >= (3, 11):
    import tomllib as parser
else:
    import tomli as parser

__all__ = ["parser"]

_SIGN = re.compile(r'''\n|[\[\]{}\#]|"""|\'{3}|["']''')
_ENDS = {
    '"""': re.compile(r'\\.|(?P<end>"{3,5})', re.DOTALL),
    "'''": re.compile(r"(?P<end>'{3,5})"),
    '"': re.compile(r'\\.|(?P<end>["\n])'),
    "'": re.compile(r"(?P<end>['\n])"),
}
"""Patterns of the end of a string, and of what cannot be its end, for each opening quote."""
_LONGEST_NAME = 200
"""Longest name that is looked for in the lines of a statement."""


class _TomlStatement:
    """A table header, or a key with its value. ``first`` is the number of its first line, counted from 1."""

    def __init__(self, first: int, text: str) -> None:
        self.first = first
        self.text = text

    def parsed(self) -> Any:
        try:
            return parser.loads(self.text)
        except (ValueError, RecursionError):  # the document is valid, but the stack may have less room than before
            return {}

    @functools.cached_property
    def content(self) -> Any:
        return self.parsed()


class _Place:
    """A table, an array of tables, or a value of the document. ``statement`` is the first statement that sets it."""

    __slots__ = ("inner", "statement", "tables")

    def __init__(self, statement: _TomlStatement) -> None:
        self.statement = statement
        self.inner: dict[str | int, _Place] = {}
        self.tables = 0
        """Number of tables in an array of tables."""

    def place(self, name: str | int, statement: _TomlStatement) -> _Place:
        if name not in self.inner:
            self.inner[name] = _Place(statement)
        return self.inner[name]

    def current(self) -> _Place:
        return self.inner[self.tables - 1] if self.tables else self


class TomlLines:
    """The lines of a valid TOML document. Reading them takes time that grows with the length of the document."""

    def __init__(self, text: str) -> None:
        spend_steps(len(text), "finding the line of a key")
        self._root = table = _Place(_TomlStatement(1, ""))
        for statement in _statements(text.replace("\r\n", "\n")):
            is_header, is_array = statement.text.startswith("["), statement.text.startswith("[[")
            place = self._root if is_header else table
            for name in _names(statement.parsed()):
                place = place.current().place(name, statement)
            if is_array:
                place.place(place.tables, statement)
                place.tables += 1
            if is_header:
                table = place.current()

    def line(self, key: Sequence[str | int]) -> int:
        """Return the number of the line that sets a key, counted from 1.

        If no line sets the key, return the line of the nearest enclosing table, or 1 if there is none. If several statements set
        the key, return the first line. ``key`` has the names of tables and keys, and indices into arrays of tables.
        """
        place, depth = self._root, 0
        while depth < len(key) and key[depth] in place.inner:
            place = place.inner[key[depth]]
            depth += 1
        statement = place.statement
        spend_bytes(len(statement.text), "finding the line of a key")
        if not place.inner:
            depth += _depth_of(statement.content, key, depth)
        return _line_within(statement, [part for part in key[:depth] if isinstance(part, str)])


def line_of(text: str, key: Sequence[str | int]) -> int:
    """Return the number of the line of a TOML document that sets a key (see ``TomlLines.line``)."""
    return TomlLines(text).line(key)


def _statements(text: str) -> Iterator[_TomlStatement]:
    start = position = depth = 0
    first = line = 1
    while (sign := _SIGN.search(text, position)) is not None:
        position = sign.end()
        match sign[0]:
            case "\n":
                line += 1
                if not depth:
                    yield from _statement(first, text[start:position])
                    start, first = position, line
            case "#":
                position = _position_or_end(text, text.find("\n", position))
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case quote:
                end = next((match for match in _ENDS[quote].finditer(text, position) if match["end"]), None)
                # The end of a line also ends an invalid string of one line.
                position = len(text) if end is None else end.end() - (end["end"] == "\n")
                line += text.count("\n", sign.end(), position)
    yield from _statement(first, text[start:])


def _position_or_end(text: str, position: int) -> int:
    return len(text) if position < 0 else position


def _statement(first: int, text: str) -> Iterator[_TomlStatement]:
    text = text.strip()
    if text and not text.startswith("#"):
        yield _TomlStatement(first, text)


def _names(content: Any) -> Iterator[str]:
    while isinstance(content, dict) and len(content) == 1:
        ((name, content),) = content.items()
        yield name


def _depth_of(content: Any, key: Sequence[str | int], depth: int) -> int:
    """Return how many parts of the key after ``depth`` are in the value of a statement."""
    for _ in _names(content):
        (content,) = content.values()
    for number, part in enumerate(key[depth:]):
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            return number
    return len(key) - depth


def _line_within(statement: _TomlStatement, names: Sequence[str]) -> int:
    """Return the first line of a statement that contains the last name of the key. If there is none, return the first line."""
    if names and len(names[-1]) <= _LONGEST_NAME:
        word = re.compile(rf"(?<![\w-]){re.escape(names[-1])}(?![\w-])")
        for number, line in enumerate(statement.text.split("\n"), statement.first):
            if word.search(line.partition("#")[0]):
                return number
    return statement.first


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
    containers: list[tuple[tuple[str | int, ...], Any]] = [((), content)]
    while containers:
        key, container = containers.pop()
        for name, value in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(value, dict | list):
                containers.append(((*key, name), value))
            elif isinstance(value, int) and not -(1 << _MOST_BITS - 1) <= value < 1 << _MOST_BITS - 1:
                return (*key, name)
    return None
