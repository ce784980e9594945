"""Builder of models, with one method for each NNAPI call. A method raises Refused if the call returns an error.

Upstream: runtime/ModelBuilder.cpp, also getNumTrailingArgumentsToRemove.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

from ..foundation.float32 import float32
from ..refusal import Refusal, Refused
from .model import NnModel, NnOperation, check_level, check_model, combine, own_version, run_order, writes_before_reads
from .operands import (
    MAX_COPIED_BYTES,
    ChannelQuantization,
    Lifetime,
    NnOperand,
    check_channels,
    check_no_value,
    check_operand_type,
    check_value,
    operand_version,
)
from .operations import OPERATIONS
from .refusal import Call, refuse
from .types import MAX_FEATURE_LEVEL, AndroidRelease, ResultCode, Version

DEFAULTS_DROPPED_SINCE = AndroidRelease.ANDROID_11
"""From this release on, ``finish`` removes trailing inputs with default values."""


def without_default_inputs(operation: NnOperation, operands: Sequence[NnOperand]) -> NnOperation:
    """Return the operation without trailing optional inputs that have default values."""
    rule = OPERATIONS.get(operation.type)
    if rule is None or not rule.optional:
        return operation
    inputs = [operands[index] for index in operation.inputs]
    optional = next((candidate for candidate in rule.optional if candidate.fits(inputs)), None)
    if optional is None:
        return operation
    count = optional.count_needed(inputs)
    return operation if count == len(inputs) else operation._replace(inputs=operation.inputs[:count])


class ModelBuilder:
    """A model under construction.

    The caller may continue after a rejected call. Without ``on_refusal``, every refusal is raised. With ``on_refusal``, only
    refusals by ``finish`` are raised. All other refusals are passed to ``on_refusal``. Rejected calls then still take effect, so
    that later calls can report more refusals.
    """

    def __init__(
        self,
        android: AndroidRelease = AndroidRelease.ANDROID_13,
        feature_level: int | None = None,
        on_refusal: Callable[[Refusal], None] | None = None,
    ) -> None:
        self._on_refusal = on_refusal
        self.android = android
        self.feature_level = MAX_FEATURE_LEVEL[android] if feature_level is None else feature_level
        self.operands: list[NnOperand] = []
        self.operations: list[NnOperation] = []
        """The operations in the order of the calls."""
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self._relaxed = False

    def add_operand(
        self, code: int, dimensions: Sequence[int] = (), scale: float = 0.0, zero_point: int = 0, has_pointer: bool = False
    ) -> int:
        """Add an operand and return its index.

        If ``has_pointer`` is True, the pointer to the dimensions is not null, even if there are no dimensions.
        """
        operand = NnOperand(code, tuple(dimensions), float32(scale) if scale else 0.0, zero_point)
        self._check_call(check_operand_type, operand, has_pointer)
        self.operands.append(operand)
        return len(self.operands) - 1

    def set_channel_quantization(self, index: int, dimension: int, scales: Sequence[float], repeats: int = 1) -> None:
        """Set the channel scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand: ``scales``, repeated ``repeats`` times."""
        operand = self._operand(index, Call.SET_CHANNEL_QUANTIZATION)
        if operand is None:
            return
        channels = ChannelQuantization(dimension, tuple(map(float32, scales)), repeats)
        self._check_call(check_channels, operand, channels)
        operand.channels = channels

    def set_value(self, index: int, length: int, value: bytes | None = None) -> None:
        """Make an operand a constant of ``length`` bytes.

        ``value`` is needed only for scalars, because a scalar may have the default value of an optional input.
        """
        operand = self._operand(index, Call.SET_VALUE)
        if operand is None:
            return
        self._check_call(check_value, operand, length)
        is_copied = length <= MAX_COPIED_BYTES
        operand.lifetime = Lifetime.CONSTANT_COPY if is_copied else Lifetime.CONSTANT_REFERENCE
        operand.value = value if is_copied else None

    def omit(self, index: int, length: int = 0) -> None:
        """Mark an operand as omitted by setting its value to a null pointer."""
        operand = self._operand(index, Call.SET_VALUE)
        check_no_value(length)
        if operand is not None:
            operand.lifetime, operand.value = Lifetime.OMITTED, None

    def set_value_from_memory(self, index: int, length: int) -> None:
        """Make an operand a constant that is stored in a memory object of the caller."""
        operand = self._operand(index, Call.SET_VALUE_FROM_MEMORY)
        if operand is not None:
            self._check_call(check_value, operand, length, Call.SET_VALUE_FROM_MEMORY)
            operand.lifetime, operand.value = Lifetime.CONSTANT_REFERENCE, None

    def set_value_from_model(self, index: int, model: NnModel) -> None:
        """Make an operand refer to a finished model."""
        operand = self._operand(index, Call.SET_VALUE_FROM_MODEL)
        if operand is not None:
            operand.lifetime, operand.submodel = Lifetime.SUBMODEL, model

    def add_operation(self, code: int, inputs: Sequence[int], outputs: Sequence[int], tag: int | None = None) -> None:
        """Add an operation. ``tag`` is a number that identifies the operation for the caller."""
        operation = NnOperation(code, tuple(inputs), tuple(outputs), len(self.operations), tag)
        if self._check_call(self._check_indices, (*inputs, *outputs), Call.ADD_OPERATION):
            self._check_call(own_version, operation, self.operands, self.android)
        self.operations.append(operation)

    def copy_operand(self, operand: NnOperand) -> None:
        """Add an operand with the same properties and the same value."""
        self.operands.append(copy(operand))

    @property
    def version(self) -> Version:
        """The version that the operands and operations added so far need. Raise Refused if one was rejected."""
        own = [own_version(operation, self.operands, self.android) for operation in self.operations]
        return combine([*own, *map(operand_version, self.operands)])

    def identify_inputs_and_outputs(
        self, inputs: Sequence[int], outputs: Sequence[int], pointers: tuple[bool, bool] = (False, False)
    ) -> None:
        """Set the model's inputs and outputs.

        ``pointers`` has a flag for each of the two lists. If the flag is True, the pointer to the list is not null, even if the
        list is empty.
        """
        for subject, listed, has_pointer in zip(("inputs", "outputs"), (inputs, outputs), pointers, strict=True):
            if not listed:
                code = ResultCode.BAD_DATA if has_pointer else ResultCode.UNEXPECTED_NULL
                refuse("model-boundary-pointers", Call.IDENTIFY, subject, "none", "at least 1", code)
        self._check_indices((*inputs, *outputs), Call.IDENTIFY)
        # A rejected call keeps the changes that it made before it was rejected.
        self.inputs = list(inputs)
        self._set_lifetimes(inputs, Lifetime.MODEL_INPUT)
        self.outputs = list(outputs)
        self._set_lifetimes(outputs, Lifetime.MODEL_OUTPUT)

    def relax_to_float16(self, allow: bool = True) -> None:
        """Allow or forbid float16 precision in FLOAT32 operations."""
        self._relaxed = allow

    def check(self) -> Version:
        """Check the whole model and return the version that the model needs."""
        return self._check(self.operations if writes_before_reads(self.operands, self.operations) else self._run_order())

    def finish(self) -> NnModel:
        """Check the whole model and return the finished model. Upstream: ModelBuilder.cpp finish."""
        operations = self._run_order()
        required = self._check(operations)
        trimmed = tuple(operations)
        if self.android >= DEFAULTS_DROPPED_SINCE:
            trimmed = tuple(without_default_inputs(one, self.operands) for one in operations)
        return NnModel(
            tuple(self.operands), trimmed, tuple(self.inputs), tuple(self.outputs), self._relaxed, self.android, required
        )

    def _run_order(self) -> list[NnOperation]:
        return run_order(self.operations, lambda index: self.operands[index].is_produced)

    def _check(self, operations: Sequence[NnOperation]) -> Version:
        if len(operations) < len(self.operations):
            stuck = sorted({one.index for one in self.operations} - {one.index for one in operations})
            refuse(
                "model-run-order", Call.FINISH_MODEL, f"operation {stuck[0]}", "an input that is never written", "no such input"
            )
        required = check_model(self.operands, operations, self.inputs, self.outputs, self.android)
        check_level(required, self.feature_level)
        return required

    def _check_call(self, check: Callable[..., object], *arguments: object) -> bool:
        """Return whether a check accepts a call. Report the refusal if the check raises Refused."""
        try:
            check(*arguments)
        except Refused as refused:
            if self._on_refusal is None:
                raise
            self._on_refusal(refused.refusal)
            return False
        return True

    def _operand(self, index: int, call: Call) -> NnOperand | None:
        return self.operands[index] if self._check_call(self._check_indices, (index,), call) else None

    def _check_indices(self, indices: Sequence[int], call: Call) -> None:
        count = len(self.operands)
        for index in indices:
            if not 0 <= index < count:
                refuse("operand-index", call, "operand index", index, f"less than {count}")

    def _set_lifetimes(self, indices: Sequence[int], lifetime: Lifetime) -> None:
        for index in indices:
            operand = self.operands[index]
            if operand.lifetime != Lifetime.TEMPORARY:
                refuse(
                    "model-boundary-operand",
                    Call.IDENTIFY,
                    f"operand {index}",
                    operand.lifetime.value,
                    "no value, and only one listing",
                )
            operand.lifetime = lifetime
