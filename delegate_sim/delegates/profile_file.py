"""TOML files that describe drivers and devices. Error messages name the line of the faulty key."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..errors import LimitError
from ..foundation.files import read_whole
from ..foundation.parsing.invalid_value import InvalidValueError, expected_of
from ..foundation.printable import printable
from ..foundation.work_budget import work_budget

_LARGEST_FILE = 16 << 20
_Profile = TypeVar("_Profile")


@work_budget()
def read_entries(path: str, what: str, build: Callable[[ProfileEntry], _Profile]) -> _Profile:
    """Return the result of ``build`` for the contents of a TOML file.

    Raises InvalidValueError with a one-line message that names the TOML file, the line, the key and the problem. The message
    quotes nothing of the file.
    """
    from ..foundation.parsing import toml
    from ..foundation.parsing.toml import line_of

    try:
        data = read_whole(path, _LARGEST_FILE)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise InvalidValueError(printable(f"{path}: is too large for a {what}")) from error
        raise InvalidValueError(printable(f"{path}: {error.strerror or error}")) from error
    try:
        text = data.decode("utf-8")
        content = toml.loads(text)
    except LimitError as error:
        raise InvalidValueError(printable(f"{path}: {error}")) from error
    except UnicodeDecodeError:
        raise InvalidValueError(printable(f"{path}: is not UTF-8 text")) from None
    except (toml.TOMLDecodeError, RecursionError) as error:
        raise InvalidValueError(printable(f"{path}: is not TOML: {error}")) from error
    try:
        return build(ProfileEntry(content, ()))
    except ProfileProblem as problem:
        place = ".".join(map(str, problem.key[:-1] if problem.is_unknown else problem.key))
        message = f"{path}:{line_of(text, problem.key)}: {f'{place}: ' if place else ''}{problem}"
        raise InvalidValueError(printable(message)) from problem


def schema(expected: str) -> Callable[[Any], str]:
    """Return a parser that accepts only one schema."""

    def parse(value: Any) -> str:
        if value != expected:
            raise InvalidValueError(f"takes {expected!r}")
        return expected

    return parse


def toml_string(value: str) -> str:
    """Return a string in TOML syntax, safe to print."""
    return json.dumps(printable(value), ensure_ascii=False)


def toml_strings(values: Iterable[str]) -> str:
    """Return a list of strings in TOML syntax."""
    return f"[{', '.join(map(toml_string, values))}]"


def toml_entry(table: str, values: Mapping[str, Any]) -> list[str]:
    """Return the lines of an entry of an array of tables, after a blank line. Values that are None are left out."""
    return ["", f"[[{table}]]", *[f"{key} = {toml_value(value)}" for key, value in values.items() if value is not None]]


def toml_value(value: Any) -> str:
    """Return a string, a number, a truth value or a list of these in TOML syntax."""
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value)


class ProfileProblem(Exception):
    """An invalid or missing value with its key, or an unknown key. The message quotes neither values nor an unknown key."""

    def __init__(self, key: tuple[str | int, ...], message: str, *, is_unknown: bool = False) -> None:
        super().__init__(message)
        self.key = key
        self.is_unknown = is_unknown


class ProfileEntry:
    """A table of the TOML file. ``take`` reads a key, and ``finish`` rejects keys that were not read."""

    def __init__(self, content: Any, key: tuple[str | int, ...]) -> None:
        if not isinstance(content, dict):
            raise ProfileProblem(key, "takes a table")
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
            raise ProfileProblem((*self.key, name), expected_of(error)) from error

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
                known = ", ".join(sorted(self.known))
                raise ProfileProblem((*self.key, name), f"there is no such key; the keys are {known}", is_unknown=True)


def text(value: Any) -> str:
    """Parse a nonempty string."""
    if not isinstance(value, str) or not value:
        raise InvalidValueError("takes a string")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Parse a list of nonempty strings."""
    if not isinstance(value, list):
        raise InvalidValueError("takes a list of strings")
    return tuple(map(text, value))


def number(value: Any) -> int:
    """Parse a non-negative integer."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValueError("takes a whole number of 0 or more")
    return value


def boolean(value: Any) -> bool:
    """Parse true or false."""
    if not isinstance(value, bool):
        raise InvalidValueError("takes true or false")
    return value


def shape_lists(value: Any) -> tuple[tuple[int, ...], ...]:
    """Parse a list of shapes."""
    if not isinstance(value, list) or not all(isinstance(shape, list) for shape in value):
        raise InvalidValueError("takes a list of shapes")
    if not all(isinstance(size, int) and not isinstance(size, bool) for shape in value for size in shape):
        raise InvalidValueError("takes shapes of whole numbers")
    return tuple(map(tuple, value))
