"""Devices: the operations that they support, the costs of operations, and whether they compile a model.

Upstream: runtime/Manager.cpp DriverDevice, CpuDevice; runtime/ExecutionPlan.cpp getPerformance; common/MetaModel.cpp getSlice,
makeSlice, invalid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..foundation.float32 import float32
from .model import NnModel, NnOperation
from .operands import Lifetime
from .operations.arithmetic import IF_ELSE, IF_THEN, WHILE_BODY, WHILE_CONDITION
from .types import MAX_FEATURE_LEVEL, AndroidRelease, OperandType, OperationType, Preference, ResultCode, Version, is_extension


def visible_operations(model: NnModel, available: Version) -> list[NnOperation] | None:
    """Return the operations that the runtime shows to a device, in run order, or None if the device sees no operation.

    A device that supports the model's version sees the whole model. Any other device sees a slice, which has the operations that
    the device's version allows. If the slice has no outputs, or if an operation of the slice refers to another model, the device
    sees no operation.
    """
    if model.version.fits(available):
        return list(model.operations)
    pairs = zip(model.operations, model.operation_versions, strict=True)
    kept = [operation for operation, version in pairs if version.fits(available)]
    if any(model.operands[index].lifetime == Lifetime.SUBMODEL for operation in kept for index in operation.inputs):
        return None
    return kept if _has_output(model, kept) else None


def _has_output(model: NnModel, kept: list[NnOperation]) -> bool:
    readers = Counter(index for operation in model.operations for index in operation.inputs)
    read_inside = {index for operation in kept for index in operation.inputs}
    return any(
        model.operands[index].lifetime == Lifetime.MODEL_OUTPUT or (readers[index] > 0 and index not in read_inside)
        for operation in kept
        for index in operation.outputs
    )


CPU_NAME = "nnapi-reference"

# The cost of types that are not in the driver's table of costs.
MAX_COST = 3.4028234663852886e38


@dataclass(frozen=True, slots=True)
class DeviceCost:
    """Execution time and power of an operation, as multiples of the CPU's values."""

    execution: float
    power: float

    def by(self, preference: Preference) -> float:
        """Return the power for the preference LOW_POWER, or the execution time for any other preference."""
        return float32(self.power if preference == Preference.LOW_POWER else self.execution)


_UNKNOWN_COST = DeviceCost(MAX_COST, MAX_COST)


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a device's operations.

    ``by_type`` has the costs, keyed by the type of the first operand. ``default`` is the cost for all other types. The
    ``relaxed`` costs are for FLOAT32 operands if float16 precision is allowed.
    """

    by_type: Mapping[int, DeviceCost] = field(default_factory=dict)
    default: DeviceCost = _UNKNOWN_COST
    relaxed_scalar: DeviceCost = _UNKNOWN_COST
    relaxed_tensor: DeviceCost = _UNKNOWN_COST
    if_overhead: DeviceCost = _UNKNOWN_COST
    while_overhead: DeviceCost = _UNKNOWN_COST

    def of_type(self, code: int, is_relaxed: bool) -> DeviceCost:
        """Return the cost of an operation. ``code`` is the type of the first operand.

        ``is_relaxed`` means that the model allows float16 precision.
        """
        if is_relaxed and code == OperandType.FLOAT32:
            return self.relaxed_scalar
        if is_relaxed and code == OperandType.TENSOR_FLOAT32:
            return self.relaxed_tensor
        return self.by_type.get(code, self.default)


_CPU_COSTS = Costs({}, *[DeviceCost(1.0, 1.0)] * 5)


def _run_by_cpu(_: NnModel, operation: NnOperation) -> bool:
    return operation.type != OperationType.OEM_OPERATION and not is_extension(operation.type)


@dataclass(frozen=True, slots=True)
class Device:
    """A device for which models are compiled: a driver, or the runtime's own CPU device.

    ``accepts`` tells whether the device supports an operation, and ``compiles`` whether it compiles operations as one step. If
    ``answers`` is False, the call that asks for the supported operations fails. If ``is_updatable`` is True, the driver is
    updated separately from Android.
    """

    name: str
    feature_level: int
    accepts: Callable[[NnModel, NnOperation], bool]
    costs: Costs
    compiles: Callable[[NnModel, Sequence[NnOperation]], bool] = lambda _model, _operations: True
    answers: bool = True
    is_cpu: bool = False
    is_updatable: bool = False

    @property
    def version(self) -> Version:
        """The NNAPI version that the device supports. Only the CPU supports versions that no driver does."""
        return Version(self.feature_level, runtime_only=self.is_cpu)

    def supported(self, model: NnModel) -> list[bool]:
        """For each operation in run order, return whether the device supports it. A driver sees only what its version allows."""
        visible = model.operations if self.is_cpu else visible_operations(model, self.version)
        if visible is None or not self.answers:
            return [False] * len(model.operations)
        taken = {operation.index for operation in visible if self.accepts(model, operation)}
        return [operation.index in taken for operation in model.operations]

    def prepare(self, model: NnModel, operations: Sequence[NnOperation]) -> ResultCode:
        """Compile these operations of a model. Return NO_ERROR, or OP_FAILED if the device does not compile them."""
        return ResultCode.NO_ERROR if self.compiles(model, operations) else ResultCode.OP_FAILED


def cpu_device(android: AndroidRelease = AndroidRelease.ANDROID_13) -> Device:
    """Return the runtime's own CPU device, which supports all operations except OEM operations and extensions."""
    return Device(CPU_NAME, MAX_FEATURE_LEVEL[android], _run_by_cpu, _CPU_COSTS, is_cpu=True)


def operation_cost(model: NnModel, operation: NnOperation, device: Device, preference: Preference) -> float:
    """Return the cost of an operation on a device, in single precision. ``preference`` selects time or power.

    Upstream: ExecutionPlan.cpp getPerformance.
    """
    costs = device.costs
    if operation.type == OperationType.IF:
        branches = [_submodel_cost(model, operation, position, device, preference) for position in (IF_THEN, IF_ELSE)]
        return float32(costs.if_overhead.by(preference) + 0.5 * float32(sum(branches)))
    if operation.type == OperationType.WHILE:
        cost = costs.while_overhead.by(preference)
        for position in (WHILE_CONDITION, WHILE_BODY):
            cost = float32(cost + _submodel_cost(model, operation, position, device, preference))
        return cost
    first = model.operands[operation.inputs[0]].type
    return costs.of_type(first, model.relaxed).by(preference)


def _submodel_cost(model: NnModel, operation: NnOperation, position: int, device: Device, preference: Preference) -> float:
    submodel = model.operands[operation.inputs[position]].submodel
    assert submodel is not None
    cost = 0.0
    for inner in submodel.operations:
        cost = float32(cost + operation_cost(submodel, inner, device, preference))
    return cost
