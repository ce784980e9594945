"""Profile of a phone's NNAPI devices, read from TOML.

For each device, the profile lists supported operations, costs, and operations that the device fails to compile.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ...foundation.columns import schema_of
from ...foundation.limits import how_to_raise, raised
from ...foundation.parsing.invalid_value import InvalidValueError
from ...nnapi_runtime.devices import Costs, DeviceCost
from ...nnapi_runtime.model import NnModel, NnOperation
from ...nnapi_runtime.types import OperandType, OperationType
from ...nnapi_runtime.types import feature_level as level_of
from ..driver import StageSignature
from ..driver_profile import ProfileEntry, ProfileProblem, boolean, number, read_entries, schema, shape_lists, text, texts
from .target import FEATURE_LEVELS, LEVELS_BY_NAME, REFERENCE_DEVICE

MOST_DEVICES = 16
"""Largest number of devices. Each device is asked about each operation, and no phone has so many."""
_OPERAND_CODES = frozenset([member.value for member in OperandType])

RELAXED_SCALAR, RELAXED_TENSOR = "relaxed_float32_scalar", "relaxed_float32_tensor"
"""Keys of the costs of FLOAT32 and TENSOR_FLOAT32 in models that allow half precision."""


@dataclass(frozen=True, slots=True)
class ProfiledDevice:
    """One device of a phone.

    If ``takes`` is None, the device takes every operation. If ``types`` is None, the first input may have any type. All operands
    of one compiled step together may have at most ``largest`` bytes.
    """

    name: str
    feature_level: int
    costs: Costs
    takes: frozenset[int] | None = None
    rejects: frozenset[int] = frozenset()
    types: frozenset[int] | None = None
    fails_to_compile: bool = False
    cannot_compile: frozenset[int] = frozenset()
    largest: int | None = None
    is_updatable: bool = False
    refuses: frozenset[StageSignature] = frozenset()
    """Operations that the device does not support with certain input types and shapes."""

    def accepts(
        self, model: NnModel, operation: NnOperation, matching: Callable[[NnModel, NnOperation], Set[StageSignature]]
    ) -> bool:
        """Return whether the driver reports an operation as supported.

        ``matching`` is ``matching_signatures``, or a cache of this function.
        """
        if operation.type in self.rejects or (self.takes is not None and operation.type not in self.takes):
            return False
        if self.refuses and not self.refuses.isdisjoint(matching(model, operation)):
            return False
        return self.types is None or model.operands[operation.inputs[0]].type in self.types

    def compiles(self, model: NnModel, operations: Sequence[NnOperation]) -> bool:
        """Return whether the driver can compile these operations as one step."""
        if self.fails_to_compile or any(operation.type in self.cannot_compile for operation in operations):
            return False
        return self.largest is None or operand_bytes(model, operations) <= self.largest


def input_signature(model: NnModel, operation: NnOperation) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return the types and dimensions of an operation's inputs."""
    inputs = [model.operands[index] for index in operation.inputs]
    types = [OperandType(operand.type).name if operand.type in _OPERAND_CODES else str(operand.type) for operand in inputs]
    return tuple(types), tuple([tuple(operand.dimensions) for operand in inputs])


def matching_signatures(model: NnModel, operation: NnOperation) -> frozenset[StageSignature]:
    """Return all signatures that match an operation."""
    name = OperationType(operation.type).name
    types, shapes = input_signature(model, operation)
    return frozenset([StageSignature(name, *pair) for pair in itertools.product((None, types), (None, shapes))])


def operand_bytes(model: NnModel, operations: Sequence[NnOperation]) -> int:
    """Return the total size in bytes of the operands of these operations. A shared operand is counted only once."""
    used = {index for operation in operations for index in (*operation.inputs, *operation.outputs)}
    return sum([model.operands[index].byte_size for index in used])


@dataclass(frozen=True, slots=True)
class DevicesProfile:
    """A phone's devices, without NNAPI's own CPU implementation. The devices are in the order in which NNAPI lists them."""

    devices: tuple[ProfiledDevice, ...]
    path: str | None = None

    def __str__(self) -> str:
        # Committed baselines contain this text, so it must not depend on the folder.
        return os.path.basename(self.path or "") or "devices"


def devices_profile(value: Any) -> DevicesProfile:
    """Parse the value of the option ``devices``: a profile, or the path of a profile file."""
    if isinstance(value, DevicesProfile):
        return value
    if not isinstance(value, str | os.PathLike):
        raise InvalidValueError("takes the path of a device profile", value)
    return read_devices(os.fspath(value))


def read_devices(path: str) -> DevicesProfile:
    """Read a profile.

    Raises ValueError with a one-line message that names the profile file, the line, the key and the problem.
    """
    return read_entries(path, "profile of devices", functools.partial(_profile, path))


def _profile(path: str, entry: ProfileEntry) -> DevicesProfile:
    entry.take("schema", schema(schema_of("devices")), is_required=True)
    entries, most = entry.entries("devices"), raised(MOST_DEVICES)
    if len(entries) > most:
        raise ProfileProblem(("devices",), f"has {len(entries):,} devices, but the limit is {most:,}{how_to_raise()}")
    devices = tuple(map(_device, entries))
    entry.finish()
    names: set[str] = set()
    for place, name in enumerate([device.name for device in devices]):
        if name in names or name == REFERENCE_DEVICE:
            what = (
                "is NNAPI's own CPU; remove it, because it is always present" if name == REFERENCE_DEVICE else "is listed twice"
            )
            raise ProfileProblem(("devices", place, "name"), what)
        names.add(name)
    return DevicesProfile(devices, path)


def _device(entry: ProfileEntry) -> ProfiledDevice:
    execution = entry.take("execution", _cost)
    power = entry.take("power", _cost)
    performance: Mapping[str, DeviceCost] = entry.take("performance", _performance) or {}
    device = ProfiledDevice(
        entry.take("name", text, is_required=True),
        level_of(entry.take("feature_level", _level, is_required=True)),
        _costs(execution, power, performance),
        entry.take("takes", _operations),
        entry.take("rejects", _operations) or frozenset(),
        entry.take("types", lambda value: frozenset([OperandType[name].value for name in _type_names(value)])),
        bool(entry.take("fails_to_compile", boolean)),
        entry.take("cannot_compile", _operations) or frozenset(),
        entry.take("largest_bytes", number),
        bool(entry.take("updatable", boolean)),
        frozenset([_signature(signature) for signature in entry.entries("refuses")]),
    )
    entry.finish()
    return device


def _signature(entry: ProfileEntry) -> StageSignature:
    operation = entry.take("operation", _operation, is_required=True)
    signature = StageSignature(operation, entry.take("types", _type_names), entry.take("shapes", shape_lists))
    entry.finish()
    return signature


def _costs(execution: float | None, power: float | None, performance: Mapping[str, DeviceCost]) -> Costs:
    """Return a device's costs. If a type has no cost and there is no default cost, the type gets the highest possible cost."""
    if execution is None and power is None:
        default = Costs().default
    else:
        least = execution if execution is not None else power
        assert least is not None
        default = DeviceCost(least, power if power is not None else least)
    by_type = {OperandType[name].value: cost for name, cost in performance.items() if name in OperandType.__members__}
    scalar, tensor = performance.get(RELAXED_SCALAR, default), performance.get(RELAXED_TENSOR, default)
    return Costs(by_type, default, scalar, tensor, default, default)


def _level(value: Any) -> int:
    level = LEVELS_BY_NAME.get(str(value), value)
    if isinstance(value, bool) or level not in FEATURE_LEVELS:
        raise InvalidValueError(f"takes one of {', '.join(map(str, FEATURE_LEVELS))} or {', '.join(LEVELS_BY_NAME)}")
    return int(level)


def _cost(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InvalidValueError("takes a number of 0 or more (the CPU has 1)")
    return float(value)


def _performance(value: Any) -> Mapping[str, DeviceCost]:
    if not isinstance(value, dict):
        raise InvalidValueError("takes a table with a number for each operand type")
    known = (*OperandType.__members__, RELAXED_SCALAR, RELAXED_TENSOR)
    costs = {}
    for name, given in value.items():
        if name not in known:
            raise InvalidValueError(f"has an unknown operand type; the types are {', '.join(known)}")
        pair = given if isinstance(given, list) else [given, given]
        if len(pair) != 2:
            raise InvalidValueError(f"{name} takes an execution time and a power")
        costs[name] = DeviceCost(_cost(pair[0]), _cost(pair[1]))
    return costs


def _operations(value: Any) -> frozenset[int]:
    return frozenset([OperationType[_operation(name)].value for name in texts(value)])


def _operation(value: Any) -> str:
    name = text(value)
    if name not in OperationType.__members__:
        raise InvalidValueError("NNAPI has no such operation")
    return OperationType[name].name


def _type_names(value: Any) -> tuple[str, ...]:
    for name in texts(value):
        if name not in OperandType.__members__:
            raise InvalidValueError("NNAPI has no such operand type")
    return texts(value)
