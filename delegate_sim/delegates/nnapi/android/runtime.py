"""The simulated NNAPI runtime, its Android release and feature level, and the NNAPI operations that the driver rejects.

An option or a driver profile lists these operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ....foundation.parsing.invalid_value import InvalidValueError
from ....graph.graph import Graph
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.types import API_LEVELS, MAX_FEATURE_LEVEL, AndroidRelease
from ....nnapi_runtime.types import feature_level as level_of
from ....refusal import Refusal
from ...options import OptionValues
from ..lowering.partition import LoweredPartition

if TYPE_CHECKING:
    from ...driver import Driver

NO_RUNTIME = "none"
"""The value of the option ``nnapi_runtime`` that turns off the runtime. With this value, every call to NNAPI succeeds."""
SIMULATED_RUNTIMES = tuple([str(int(release)) for release in AndroidRelease])
NEWEST_RUNTIME = SIMULATED_RUNTIMES[-1]
_DELEGATE_ALONE = {"8.1": 1, "9": 2}
"""The feature level of each Android release that has no simulated runtime."""
_ASSUMED = ("14", "15", "16")
"""Later Android releases. Their runtimes are assumed to have the rules of ``NEWEST_RUNTIME``."""
OTHER_RUNTIMES = (*_DELEGATE_ALONE, *_ASSUMED)
ANDROID_RELEASES = (*_DELEGATE_ALONE, *SIMULATED_RUNTIMES, *_ASSUMED)
"""All Android releases that the options accept, oldest first."""
RUNTIMES = (NO_RUNTIME, *ANDROID_RELEASES)


def runtime_name(value: Any) -> str:
    """Parse the name of a runtime: an Android release, or "none"."""
    name = NO_RUNTIME if value is None else str(value).strip().lower()
    if isinstance(value, bool) or name not in RUNTIMES:
        raise InvalidValueError(f"takes one of {', '.join(RUNTIMES)}", value)
    return name


def android_of(options: OptionValues) -> AndroidRelease | None:
    """Return the Android release of the simulated runtime, or None if no runtime is simulated."""
    name = options["nnapi_runtime"]
    if name == NO_RUNTIME or name in _DELEGATE_ALONE:
        return None
    return AndroidRelease(int(NEWEST_RUNTIME if name in _ASSUMED else name))


def runtime_level(options: OptionValues) -> int:
    """Return the runtime's feature level: the lower of the level in the options and the Android release's highest level."""
    level: int = options["feature_level"]
    highest = highest_level_of(options["nnapi_runtime"])
    return level if highest is None else min(level, highest)


def highest_level_of(name: str) -> int | None:
    """Return NNAPI's number for the highest feature level of a named runtime, or None for ``NO_RUNTIME``."""
    if name in _DELEGATE_ALONE:
        return API_LEVELS[_DELEGATE_ALONE[name]]
    android = android_of({"nnapi_runtime": name})
    return None if android is None else highest_level(android)


def highest_level(android: AndroidRelease) -> int:
    """Return NNAPI's number for the feature level of the runtime that shipped with an Android release."""
    return API_LEVELS[MAX_FEATURE_LEVEL[android]]


ModelMaker: TypeAlias = Callable[[Callable[[Refusal], None]], ModelBuilder]
"""A function that creates an NNAPI model builder. The builder reports rejected calls to the function in the argument."""


def model_maker(options: OptionValues) -> ModelMaker | None:
    """Return a function that creates NNAPI model builders, or None if no runtime is simulated."""
    android = android_of(options)
    if android is None:
        return None
    level = level_of(runtime_level(options))
    return lambda note: ModelBuilder(android, level, note)


def notes(options: OptionValues) -> Iterator[str]:
    """Yield notes about parts of Android's runtime that are not simulated or not verified."""
    name = options["nnapi_runtime"]
    if name in _DELEGATE_ALONE:
        yield f"Android {name}'s NNAPI runtime is not simulated; only the delegate is simulated"
    elif name in _ASSUMED:
        yield f"Android {name}'s NNAPI runtime is assumed to have the rules of Android {NEWEST_RUNTIME}'s NNAPI runtime"
    match android_of(options):
        case AndroidRelease.ANDROID_10 | AndroidRelease.ANDROID_11 as android:
            known = f"for Android {int(android)}'s NNAPI runtime, only the validation of operations was verified in real runs"
            yield f"{known}; the rules for whole models and for their division among devices come from the source code"
        case AndroidRelease.ANDROID_12:
            yield "the rules of Android 12's NNAPI runtime come from its source code and were not verified in real runs"


class DriverRejections:
    """The NNAPI operations that the driver rejects according to the options."""

    def __init__(self, graph: Graph, options: OptionValues) -> None:
        self._graph = graph
        self._names = frozenset(options["driver_rejects"])
        self._profile: Driver | None = options["driver"]

    @property
    def is_empty(self) -> bool:
        """Whether the options have no rejected operations and no driver profile."""
        return self._profile is None and not self._names

    def of_node(self, node: int, lowered: LoweredPartition) -> tuple[str, ...]:
        """Return the rejected NNAPI operations of a node."""
        if self.is_empty:
            return ()
        operations = lowered.operations.get(node, ())
        if self._profile is None:
            return tuple([operation for operation in operations if operation in self._names])
        view = self._graph.view(self._graph.nodes[node])
        return tuple(
            [operation for operation in operations if operation in self._names or self._profile.rejects(operation, view)]
        )

    def has_some_of(self, partitions: Sequence[LoweredPartition]) -> bool:
        """Return whether the driver rejects an unknown operation of these partitions, according to the driver profile."""
        if self._profile is None or not self._profile.has_open_rejections:
            return False
        from ...driver import signature  # most runs have no profile

        return self._profile.rejects_some(
            {
                signature(operation, self._graph.view(self._graph.nodes[node]))
                for lowered in partitions
                for node, operations in lowered.operations.items()
                for operation in operations
            }
        )
