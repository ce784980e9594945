"""TOML files that describe drivers and devices. Error messages name the line of the faulty key."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..foundation.files import read_whole
from ..foundation.printable import printable, shortened

_LARGEST_FILE = 16 << 20
_Profile = TypeVar("_Profile")


def read_entries(path: str, what: str, build: Callable[[ProfileEntry], _Profile]) -> _Profile:
    """Return the result of ``build`` for the contents of a TOML file.

    Raises ValueError with a one-line message that names the TOML file, the line, the key and the problem.
    """
    from ..foundation import toml

    try:
        data = read_whole(path, _LARGEST_FILE)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ValueError(printable(f"{path}: is too large for a {what}")) from error
        raise ValueError(printable(f"{path}: {error.strerror or error}")) from error
    try:
        text = data.decode("utf-8")
        content = toml.loads(text)
    except (UnicodeDecodeError, toml.TOMLDecodeError, RecursionError) as error:
        raise ValueError(printable(f"{path}: is not TOML: {error}")) from error
    try:
        return build(ProfileEntry(content, ()))
    except ProfileProblem as problem:
        where = ".".join(map(str, problem.key))
        raise ValueError(printable(f"{path}:{_line(text, problem.key)}: {where}: {problem}")) from problem


def schema(expected: str) -> Callable[[Any], str]:
    """Return a parser that accepts only one schema."""

    def parse(value: Any) -> str:
        if value != expected:
            raise ValueError(f"takes {expected!r}, not {shown(value)}")
        return expected

    return parse


def toml_string(value: str) -> str:
    """Return a string in TOML syntax, safe to print."""
    return json.dumps(printable(value), ensure_ascii=False)


def toml_strings(values: Iterable[str]) -> str:
    """Return a list of strings in TOML syntax."""
    return f"[{', '.join(map(toml_string, values))}]"


class ProfileProblem(Exception):
    """An invalid or missing value, with its key."""

    def __init__(self, key: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.key = key


class ProfileEntry:
    """A table of the TOML file. ``take`` reads a key, and ``finish`` rejects keys that were not read."""

    def __init__(self, content: Any, key: tuple[str | int, ...]) -> None:
        if not isinstance(content, dict):
            raise ProfileProblem(key, f"takes a table, not {shown(content)}")
        self.content = content
        self.key = key
        self.known: list[str] = []

    def take(self, name: str, parse: Callable[[Any], Any], *, is_required: bool = False) -> Any:
        """Return the value of a key, or None if the key is missing."""
        self.known.append(name)
        if name not in self.content:
            if is_required:
                raise ProfileProblem(self.key or (name,), f"{name} is missing")
            return None
        try:
            return parse(self.content[name])
        except ValueError as error:
            raise ProfileProblem((*self.key, name), str(error)) from error

    def entries(self, name: str) -> list[ProfileEntry]:
        """Return the tables in an array of tables."""
        self.known.append(name)
        tables = self.content.get(name, [])
        if not isinstance(tables, list):
            raise ProfileProblem((*self.key, name), f"takes tables; write [[{name}]]")
        return [ProfileEntry(content, (*self.key, name, number)) for number, content in enumerate(tables)]

    def finish(self) -> None:
        """Raise ProfileProblem if the table has keys that were not read."""
        for name in self.content:
            if name not in self.known:
                raise ProfileProblem((*self.key, name), f"there is no such key; the keys are {', '.join(sorted(self.known))}")


def text(value: Any) -> str:
    """Parse a nonempty string."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"takes a string, not {shown(value)}")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Parse a list of nonempty strings."""
    if not isinstance(value, list):
        raise ValueError(f"takes a list of strings, not {shown(value)}")
    return tuple(map(text, value))


def number(value: Any) -> int:
    """Parse a non-negative integer."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"takes a whole number of 0 or more, not {shown(value)}")
    return value


def boolean(value: Any) -> bool:
    """Parse true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"takes true or false, not {shown(value)}")
    return value


def shape_lists(value: Any) -> tuple[tuple[int, ...], ...]:
    """Parse a list of shapes."""
    if not isinstance(value, list) or not all(isinstance(shape, list) for shape in value):
        raise ValueError(f"takes a list of shapes, not {shown(value)}")
    if not all(isinstance(size, int) and not isinstance(size, bool) for shape in value for size in shape):
        raise ValueError(f"takes shapes of whole numbers, not {shown(value)}")
    return tuple(map(tuple, value))


def shown(value: Any) -> str:
    """Return a value as shortened text for a message."""
    return shortened(repr(value), 60)


def _line(content: str, key: tuple[str | int, ...]) -> int:
    """Return the number of the line that sets a key.

    If the key is in an array of tables, search below the header of the key's table.
    """
    from ..foundation.toml_lines import line_of

    lines = content.splitlines(keepends=True)
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    first, last = 0, headers[0] if headers else len(lines)
    if len(key) > 1 and isinstance(key[1], int):
        own = re.compile(rf"\s*\[\[\s*{re.escape(str(key[0]))}\s*\]\]")
        starts = [number for number in headers if own.match(lines[number])]
        if key[1] < len(starts):
            first = starts[key[1]]
            last = next((number for number in headers if number > first), len(lines))
            key = (key[0], 0, *key[2:])
    elif key and (starts := [number for number in headers if re.match(rf"\s*\[+\s*{re.escape(str(key[0]))}\b", lines[number])]):
        return starts[0] + 1
    return first + line_of("".join(lines[first:last]), key)
