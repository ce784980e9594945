"""Driver profiles: the operations that a driver rejects. ``delegate-sim reconcile --learn`` writes driver profiles.

Profiles of drivers and of devices are TOML files. Error messages name the line of the faulty key.
"""

from __future__ import annotations

import errno
import functools
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import LimitError
from ..foundation.columns import schema_of
from ..foundation.files import read_whole
from ..foundation.parsing.invalid_value import InvalidValueError, expected_of
from ..foundation.printable import printable
from ..foundation.work_budget import spend_steps, work_budget
from ..graph.graph import NodeView
from .driver import Driver, OperationSignature, signature

_LARGEST_FILE = 2 << 20
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


@dataclass(frozen=True, slots=True)
class Rejection:
    """A rule of a profile: the driver rejects every operation that matches all fields of the rule."""

    operation: str
    types: tuple[str, ...] | None = None
    """The types of all operands, or None for any types."""
    rank: int | None = None
    """The rank of the first operand, or None for any rank."""
    shapes: tuple[tuple[int, ...], ...] | None = None
    """The shapes of all operands, or None for any shapes."""


def rules_covering(found: OperationSignature) -> Iterator[Rejection]:
    """Yield every rule that would reject an operation."""
    patterns = itertools.product((None, found.types), (None, found.rank), (None, found.shapes))
    return (Rejection(found.operation, *pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Observation:
    """An operation that appears in logs. ``logs`` has the indices of these logs in the profile's list of logs."""

    signature: OperationSignature
    is_accepted: bool
    logs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LogSource:
    """A log that a profile was learned from, and the model that was run."""

    log: str
    model: str
    model_sha256: str


@dataclass(frozen=True)
class DriverProfile(Driver):
    """A profile: the operations that a driver rejects, the operations seen in logs, and the logs."""

    rejections: tuple[Rejection, ...] = ()
    observations: tuple[Observation, ...] = ()
    sources: tuple[LogSource, ...] = ()
    accelerator: str | None = None
    path: str | None = None
    """The file that the profile was read from."""
    one_of: tuple[frozenset[OperationSignature], ...] = ()
    """Groups of operations. The driver rejects at least one operation of each group, but it is unknown which one."""

    def __str__(self) -> str:
        # Committed baselines contain this text, so it must not depend on the folder.
        return os.path.basename(self.path or "") or self.accelerator or "driver profile"

    def rejects(self, operation: str, view: NodeView) -> bool:
        """Return whether one of the profile's rules rejects the operation."""
        if operation not in self._operations:
            return False
        return not self._rejections.isdisjoint(rules_covering(signature(operation, view)))

    @property
    def has_open_rejections(self) -> bool:
        """Whether ``one_of`` has at least one group."""
        return bool(self.one_of)

    def rejects_some(self, asked: Set[OperationSignature]) -> bool:
        """Return whether ``asked`` contains all operations of at least one group in ``one_of``."""
        for operation in asked:
            groups = self._groups.get(operation, ())
            spend_steps(len(groups), "comparing operations with a driver profile")
            if any(group <= asked for group in groups):
                return True
        return False

    @functools.cached_property
    def _groups(self) -> Mapping[OperationSignature, Sequence[frozenset[OperationSignature]]]:
        groups: dict[OperationSignature, list[frozenset[OperationSignature]]] = {}
        for group in dict.fromkeys(self.one_of):
            groups.setdefault(next(iter(group)), []).append(group)
        return groups

    @functools.cached_property
    def _rejections(self) -> frozenset[Rejection]:
        return frozenset(self.rejections)

    @functools.cached_property
    def _operations(self) -> Set[str]:
        return frozenset([rejection.operation for rejection in self.rejections])


def read_profile(path: str) -> DriverProfile:
    """Read a profile. Raises ValueError with a one-line message that names the file, the line, the key and the problem."""
    return read_entries(path, "driver profile", lambda entry: _profile(path, entry))


def _profile(path: str, entry: ProfileEntry) -> DriverProfile:
    entry.take("schema", schema(schema_of("driver")), is_required=True)
    accelerator = entry.take("accelerator", text)
    rejections = tuple([_rejection(part) for part in entry.entries("rejects")])
    one_of = tuple([_group(part) for part in entry.entries("rejects_one_of")])
    sources = tuple([_source(part) for part in entry.entries("logs")])
    observations = tuple([_observation(part, len(sources)) for part in entry.entries("seen")])
    entry.finish()
    return DriverProfile(rejections, observations, sources, accelerator, path, one_of)


def _rejection(entry: ProfileEntry) -> Rejection:
    rejection = Rejection(
        entry.take("operation", text, is_required=True),
        entry.take("types", texts),
        entry.take("rank", number),
        entry.take("shapes", shape_lists),
    )
    entry.finish()
    return rejection


def _signature(entry: ProfileEntry) -> OperationSignature:
    parsers = (("operation", text), ("types", texts), ("shapes", shape_lists))
    return OperationSignature(*[entry.take(name, parse, is_required=True) for name, parse in parsers])


def _group(entry: ProfileEntry) -> frozenset[OperationSignature]:
    signatures = []
    for part in entry.entries("operations"):
        signatures.append(_signature(part))
        part.finish()
    entry.finish()
    if not signatures:
        raise ProfileProblem((*entry.key, "operations"), "needs at least one operation")
    return frozenset(signatures)


def _observation(entry: ProfileEntry, sources: int) -> Observation:
    operation = _signature(entry)
    is_accepted = entry.take("accepted", boolean, is_required=True)
    logs = entry.take("logs", lambda value: _numbers(value, sources))
    entry.finish()
    return Observation(operation, is_accepted, logs or ())


def _source(entry: ProfileEntry) -> LogSource:
    source = LogSource(*[entry.take(name, text, is_required=True) for name in ("log", "model", "sha256")])
    entry.finish()
    return source


def _numbers(value: Any, below: int) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise InvalidValueError("takes a list of numbers")
    numbers = tuple(map(number, value))
    if any(number >= below for number in numbers):
        raise InvalidValueError(f"takes numbers below {below}, the number of [[logs]]")
    return numbers


def driver(value: Any) -> Driver:
    """Parse the value of a driver option: a profile, or the path of a file, which is read (see ``read_profile``)."""
    if isinstance(value, Driver):
        return value
    if isinstance(value, str | os.PathLike):
        return read_profile(os.fspath(value))
    raise InvalidValueError("takes the path of a driver profile", value)
