"""Finished models, and the rules of ``finish``.

Upstream: runtime/ModelBuilder.cpp sortIntoRunOrder, finish; common/types/src/Validation.cpp validateModelSubgraph;
common/ModelUtils.cpp removeDeadOperands.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

from .operands import Lifetime, NnOperand, operand_version
from .operations import validate_operation
from .refusal import RULES, Call, refuse
from .types import AndroidRelease, OperandType, Version, type_of

_MODEL = OperandType.MODEL.value
_PLAIN = Version(1)


class NnOperation(NamedTuple):
    """One operation of a model.

    ``index`` is the number of earlier addOperation calls. ``tag`` is a number that identifies the operation for the caller.
    """

    type: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    index: int  # type: ignore[assignment]  # replaces tuple.index
    tag: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class NnModel:
    """A finished model. ``operations`` are in run order, without trailing inputs that have default values."""

    operands: tuple[NnOperand, ...]
    operations: tuple[NnOperation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    relaxed: bool = False
    android: AndroidRelease = AndroidRelease.ANDROID_13
    # The version that the model needs with all inputs. ``finish`` compares this version with the runtime's version.
    required: Version = _PLAIN

    @property
    def order(self) -> list[int]:
        """The ``index`` of each operation, in run order."""
        return [operation.index for operation in self.operations]

    @property
    def input_operands(self) -> list[NnOperand]:
        """The operands that are inputs of the model."""
        return [self.operands[index] for index in self.inputs]

    @property
    def output_operands(self) -> list[NnOperand]:
        """The operands that are outputs of the model."""
        return [self.operands[index] for index in self.outputs]

    @cached_property
    def operation_versions(self) -> tuple[Version, ...]:
        """The version that each operation and its operands need."""
        return tuple(operation_version(one, self.operands, self.android) for one in self.operations)

    @cached_property
    def version(self) -> Version:
        """The version that a device needs to run the model. Unused operands do not affect the version."""
        used = {*self.inputs, *self.outputs}
        for operation in self.operations:
            used.update(operation.inputs, operation.outputs)
        return combine([*self.operation_versions, *(operand_version(self.operands[index]) for index in used)])

    @cached_property
    def version_as_submodel(self) -> Version:
        """The version that a device needs to run the model as a submodel. Unused operands also affect the version."""
        return combine([*self.operation_versions, *map(operand_version, self.operands)])


def combine(versions: Iterable[Version]) -> Version:
    """Return the lowest version that satisfies all of these versions."""
    return reduce(Version.combine, versions, _PLAIN)


def operation_version(operation: NnOperation, operands: Sequence[NnOperand], android: AndroidRelease) -> Version:
    """Return the version that an operation and its operands need. Upstream: validateOperationIncludingOperandVersions."""
    own = own_version(operation, operands, android)
    return combine([own, *(operand_version(operands[index]) for index in (*operation.inputs, *operation.outputs))])


def own_version(operation: NnOperation, operands: Sequence[NnOperand], android: AndroidRelease) -> Version:
    """Return the version that an operation needs, regardless of its operands. Raise Refused if addOperation fails."""
    inputs = [operands[index] for index in operation.inputs]
    outputs = [operands[index] for index in operation.outputs]
    return validate_operation(operation.type, inputs, outputs, android)


def run_order(operations: Sequence[NnOperation], is_produced: Callable[[int], bool]) -> list[NnOperation]:
    """Return the operations in run order, without operations that can never run.

    Of all ready operations, the operation that became ready last runs next. ``is_produced`` takes an operand's index and
    returns whether an operation must write this operand.

    Upstream: ModelBuilder.cpp sortIntoRunOrder.
    """
    tracker = ReadyTracker(operations, is_produced)
    stack, order = tracker.initially_ready(), []
    while stack:
        position = stack.pop()
        order.append(operations[position])
        stack += tracker.finish(position)
    return order


def _known_from_start(operands: Sequence[NnOperand]) -> list[bool]:
    temporary, output = Lifetime.TEMPORARY, Lifetime.MODEL_OUTPUT
    return [operand.lifetime is not temporary and operand.lifetime is not output for operand in operands]


def writes_before_reads(operands: Sequence[NnOperand], operations: Sequence[NnOperation]) -> bool:
    """Return whether every operand is written before an operation reads the operand."""
    known = _known_from_start(operands)
    for operation in operations:
        for index in operation.inputs:
            if not known[index]:
                return False
        for index in operation.outputs:
            known[index] = True
    return True


class ReadyTracker:
    """A record of the inputs that operations wait for.

    An operation is ready if all its inputs are written. If an operation reads an operand twice, the operation waits for two
    inputs.

    Upstream: ModelBuilder.cpp sortIntoRunOrder; ExecutionPlan.cpp OperandTracker.
    """

    def __init__(self, operations: Sequence[NnOperation], is_produced: Callable[[int], bool]) -> None:
        self._operations = operations
        self._readers: dict[int, list[int]] = defaultdict(list)
        self._missing: list[int] = []
        for position, operation in enumerate(operations):
            produced = [index for index in operation.inputs if is_produced(index)]
            self._missing.append(len(produced))
            for index in produced:
                self._readers[index].append(position)

    def initially_ready(self) -> list[int]:
        """Return the operations that are ready before any operation runs."""
        return [position for position, count in enumerate(self._missing) if count == 0]

    def finish(self, position: int) -> list[int]:
        """Mark an operation as done. Return the operations that become ready."""
        ready = []
        for index in self._operations[position].outputs:
            for reader in self._readers[index]:
                self._missing[reader] -= 1
                if self._missing[reader] == 0:
                    ready.append(reader)
        return ready


def check_model(
    operands: Sequence[NnOperand],
    operations: Sequence[NnOperation],
    inputs: Sequence[int],
    outputs: Sequence[int],
    android: AndroidRelease,
) -> Version:
    """Check a model with operations in run order. Return the version that the model needs. Upstream: validateModelSubgraph."""
    for subject, present in (("operands", operands), ("operations", operations)):
        if not present:
            refuse("model-empty", Call.FINISH_MODEL, subject, 0, "at least 1")
    versions = {_PLAIN}
    for index, operand in enumerate(operands):
        if operand.type == _MODEL or operand.lifetime is Lifetime.SUBMODEL:
            _check_lifetime(index, operand)
        # FLOAT32 tensors, the most frequent operands, need no checks, because every level has them.
        if operand.type != _TENSOR_FLOAT32 or not operand.dimensions:
            versions.add(operand_version(operand, f"operand {index}"))
    versions.update([own_version(operation, operands, android) for operation in operations])
    _check_boundary(operands, inputs, Lifetime.MODEL_INPUT)
    _check_boundary(operands, outputs, Lifetime.MODEL_OUTPUT)
    _check_writers(operands, operations, android)
    return combine(versions)


_TENSOR_FLOAT32 = OperandType.TENSOR_FLOAT32.value


def _check_lifetime(index: int, operand: NnOperand) -> None:
    if (operand.type == _MODEL) != (operand.lifetime is Lifetime.SUBMODEL):
        value = f"{type_of(operand.type)}, {operand.lifetime.value}"
        refuse(
            "model-submodel-operand",
            Call.FINISH_MODEL,
            f"operand {index}",
            value,
            "type MODEL and a reference to a model, or neither",
        )


def _check_boundary(operands: Sequence[NnOperand], listed: Sequence[int], lifetime: Lifetime) -> None:
    for index in listed:
        if operands[index].lifetime is not lifetime:
            refuse("model-boundary", Call.FINISH_MODEL, f"operand {index}", operands[index].lifetime.value, lifetime.value)
    times = Counter(listed)
    for index, operand in enumerate(operands):
        if operand.lifetime is lifetime and times[index] != 1:
            value = f"listed {times[index]} times"
            refuse("model-boundary", Call.FINISH_MODEL, f"operand {index}", value, f"once as {lifetime.value}")


def _check_writers(operands: Sequence[NnOperand], operations: Sequence[NnOperation], android: AndroidRelease) -> None:
    known = _known_from_start(operands)
    for operation in operations:
        for index in operation.outputs:
            if known[index]:
                value = f"{operands[index].lifetime.value}, written by operation {operation.index}"
                refuse("model-written-twice", Call.FINISH_MODEL, f"operand {index}", value, "one writer")
            known[index] = True
    if not all(known) and android >= RULES["model-never-written"].since:
        index = known.index(False)
        refuse(
            "model-never-written",
            Call.FINISH_MODEL,
            f"operand {index}",
            operands[index].lifetime.value,
            "an operation that writes it",
        )


def check_level(version: Version, level: int) -> None:
    """Raise Refused if the runtime's feature level is too low for the version that a model needs."""
    if not version.fits(Version(level, runtime_only=True)):
        refuse("model-feature-level", Call.FINISH_MODEL, "feature level", version.level, f"at most {level}")
