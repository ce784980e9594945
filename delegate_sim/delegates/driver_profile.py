"""Driver profiles: the operations that a driver rejects. ``delegate-sim reconcile --learn`` writes driver profiles."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ..foundation.columns import schema_of
from ..foundation.parsing.invalid_value import InvalidValueError
from ..foundation.work_budget import spend_steps
from ..graph.graph import NodeView
from .driver import Driver, OperationSignature, signature
from .profile_file import ProfileEntry, ProfileProblem, boolean, number, read_entries, schema, shape_lists, text, texts


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
        """The groups of ``one_of``, by one operation of each group."""
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
    """Read a profile.

    Raises ValueError with a one-line message that names the profile file, the line, the key and the problem.
    """
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


def _group(entry: ProfileEntry) -> frozenset[OperationSignature]:
    signatures = []
    for part in entry.entries("operations"):
        operation = part.take("operation", text, is_required=True)
        types = part.take("types", texts, is_required=True)
        shapes = part.take("shapes", shape_lists, is_required=True)
        part.finish()
        signatures.append(OperationSignature(operation, types, shapes))
    entry.finish()
    if not signatures:
        raise ProfileProblem((*entry.key, "operations"), "needs at least one operation")
    return frozenset(signatures)


def _observation(entry: ProfileEntry, sources: int) -> Observation:
    operation = entry.take("operation", text, is_required=True)
    types = entry.take("types", texts, is_required=True)
    shapes = entry.take("shapes", shape_lists, is_required=True)
    is_accepted = entry.take("accepted", boolean, is_required=True)
    logs = entry.take("logs", lambda value: _numbers(value, sources))
    entry.finish()
    return Observation(OperationSignature(operation, types, shapes), is_accepted, logs or ())


def _source(entry: ProfileEntry) -> LogSource:
    source = LogSource(
        entry.take("log", text, is_required=True),
        entry.take("model", text, is_required=True),
        entry.take("sha256", text, is_required=True),
    )
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
    """Parse the value of a driver option: a profile, or the path of a profile file.

    Raises ValueError with a message that names the profile file, the line and the key.
    """
    if isinstance(value, Driver):
        return value
    if isinstance(value, str | os.PathLike):
        return read_profile(os.fspath(value))
    raise InvalidValueError("takes the path of a driver profile", value)
