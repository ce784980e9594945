"""A profile of a driver: which operations it rejects, read from a file that ``delegate-sim reconcile --learn`` writes."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..graph.graph import NodeView
from ..text import printable
from .driver import Driver, OperationSignature, signature

SCHEMA = "delegate-sim/driver/1"
_LARGEST_FILE = 16 << 20


@dataclass(frozen=True)
class Rejection:
    """A rule of a profile: the operation is rejected where everything that the rule names is as it says."""

    operation: str
    types: tuple[str, ...] | None = None
    """Types of all operands."""
    rank: int | None = None
    """Rank of the first operand."""
    shapes: tuple[tuple[int, ...], ...] | None = None
    """Shapes of all operands."""

    def covers(self, found: OperationSignature) -> bool:
        """Whether an operation is rejected by this rule."""
        return (
            self.operation == found.operation
            and self.types in (None, found.types)
            and self.rank in (None, found.rank)
            and self.shapes in (None, found.shapes)
        )


class Observation(NamedTuple):
    """What logs showed of an operation; ``logs`` are positions in the profile's list of logs."""

    signature: OperationSignature
    is_accepted: bool
    logs: tuple[int, ...]


class LogSource(NamedTuple):
    """A log that a profile was learnt from, and the model that ran."""

    log: str
    model: str
    model_sha256: str


@dataclass(frozen=True)
class DriverProfile(Driver):
    """Which operations a driver rejects, what logs showed, and which logs those were."""

    rejections: tuple[Rejection, ...] = ()
    observations: tuple[Observation, ...] = ()
    sources: tuple[LogSource, ...] = ()
    accelerator: str | None = None
    path: str | None = None
    """The file that it was read from."""

    def __str__(self) -> str:
        # Where the file lies differs between machines, and a committed baseline holds this text.
        return os.path.basename(self.path or "") or self.accelerator or "driver profile"

    def rejects(self, operation: str, view: NodeView) -> bool:
        """Whether one of the rules covers the operation."""
        rejections = self._by_operation.get(operation)
        if rejections is None:
            return False
        found = signature(operation, view)
        return any(rejection.covers(found) for rejection in rejections)

    @functools.cached_property
    def _by_operation(self) -> Mapping[str, Sequence[Rejection]]:
        found: dict[str, list[Rejection]] = {}
        for rejection in self.rejections:
            found.setdefault(rejection.operation, []).append(rejection)
        return found


def read_profile(path: str) -> DriverProfile:
    """Read a profile; raises ValueError in one line that names the file, the line, the key and what is wrong."""
    from .. import toml

    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise ValueError(printable(f"{path}: {error.strerror or error}")) from error
    if len(data) > _LARGEST_FILE:
        raise ValueError(printable(f"{path}: is too large for a driver profile"))
    try:
        text = data.decode("utf-8")
        content = toml.loads(text)
    except (UnicodeDecodeError, toml.TOMLDecodeError, RecursionError) as error:
        raise ValueError(printable(f"{path}: is not TOML: {error}")) from error
    try:
        return _profile(path, content)
    except _ProfileProblem as problem:
        where = ".".join(map(str, problem.key))
        raise ValueError(printable(f"{path}:{_line(text, problem.key)}: {where}: {problem}")) from problem


class _ProfileProblem(Exception):
    def __init__(self, key: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.key = key


class _ProfileEntry:
    """A table of the file, whose keys are taken one by one; those left over are unknown."""

    def __init__(self, content: Any, key: tuple[str | int, ...]) -> None:
        if not isinstance(content, dict):
            raise _ProfileProblem(key, f"takes a table, not {_shown(content)}")
        self.content = content
        self.key = key
        self.known: list[str] = []

    def take(self, name: str, parse: Callable[[Any], Any], *, is_required: bool = False) -> Any:
        self.known.append(name)
        if name not in self.content:
            if is_required:
                raise _ProfileProblem(self.key or (name,), f"{name} is missing")
            return None
        try:
            return parse(self.content[name])
        except ValueError as error:
            raise _ProfileProblem((*self.key, name), str(error)) from error

    def entries(self, name: str) -> list[_ProfileEntry]:
        self.known.append(name)
        found = self.content.get(name, [])
        if not isinstance(found, list):
            raise _ProfileProblem((*self.key, name), f"is written [[{name}]]")
        return [_ProfileEntry(content, (*self.key, name, number)) for number, content in enumerate(found)]

    def finish(self) -> None:
        for name in self.content:
            if name not in self.known:
                raise _ProfileProblem((*self.key, name), f"there is no such key; known are {', '.join(sorted(self.known))}")


def _profile(path: str, content: Any) -> DriverProfile:
    entry = _ProfileEntry(content, ())
    entry.take("schema", _schema, is_required=True)
    accelerator = entry.take("accelerator", _text)
    rejections = tuple([_rejection(each) for each in entry.entries("rejects")])
    sources = tuple([_source(each) for each in entry.entries("logs")])
    observations = tuple([_observation(each, len(sources)) for each in entry.entries("seen")])
    entry.finish()
    return DriverProfile(rejections, observations, sources, accelerator, path)


def _rejection(entry: _ProfileEntry) -> Rejection:
    found = Rejection(
        entry.take("operation", _text, is_required=True),
        entry.take("types", _texts),
        entry.take("rank", _number),
        entry.take("shapes", _shapes),
    )
    entry.finish()
    return found


def _observation(entry: _ProfileEntry, sources: int) -> Observation:
    operation = entry.take("operation", _text, is_required=True)
    types = entry.take("types", _texts, is_required=True)
    shapes = entry.take("shapes", _shapes, is_required=True)
    is_accepted = entry.take("accepted", _boolean, is_required=True)
    logs = entry.take("logs", lambda value: _numbers(value, sources))
    entry.finish()
    return Observation(OperationSignature(operation, types, shapes), is_accepted, logs or ())


def _source(entry: _ProfileEntry) -> LogSource:
    found = LogSource(
        entry.take("log", _text, is_required=True),
        entry.take("model", _text, is_required=True),
        entry.take("sha256", _text, is_required=True),
    )
    entry.finish()
    return found


def _schema(value: Any) -> str:
    if value != SCHEMA:
        raise ValueError(f"takes {SCHEMA!r}, not {_shown(value)}")
    return SCHEMA


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"takes a text, not {_shown(value)}")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"takes a list of texts, not {_shown(value)}")
    return tuple(map(_text, value))


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"takes a whole number from 0 up, not {_shown(value)}")
    return value


def _numbers(value: Any, below: int) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise ValueError(f"takes a list of numbers, not {_shown(value)}")
    found = tuple(map(_number, value))
    if any(number >= below for number in found):
        raise ValueError(f"takes positions in [[logs]], of which there are {below}")
    return found


def _shapes(value: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(shape, list) for shape in value):
        raise ValueError(f"takes a list of shapes, not {_shown(value)}")
    if not all(isinstance(size, int) and not isinstance(size, bool) for shape in value for size in shape):
        raise ValueError(f"takes shapes of whole numbers, not {_shown(value)}")
    return tuple(map(tuple, value))


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"takes true or false, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _line(text: str, key: tuple[str | int, ...]) -> int:
    """Return the number of the line that sets a key; an element of an array of tables is looked for by its header."""
    from ..toml_lines import line_of

    lines = text.splitlines(keepends=True)
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
