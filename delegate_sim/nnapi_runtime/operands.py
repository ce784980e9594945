"""Operands, and the checks of calls that add operands and set their values.

Upstream: runtime/ModelBuilder.cpp addOperand, setOperandValue*, setOperandSymmPerChannelQuantParams;
common/types/src/Validation.cpp validateOperandTypeImpl, validateOperandSymmPerChannelQuantParamsImpl, validateOperand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from .refusal import Call, ForType, refuse
from .types import OperandType, ResultCode, Version, element_size, is_extension, is_known_type, is_tensor, type_level, type_of

if TYPE_CHECKING:
    from .model import NnModel

# The runtime copies constants up to this size, and references larger constants.
MAX_COPIED_BYTES = 128

_MAX_BYTES = 0xFFFFFFFF


class Lifetime(Enum):
    """The origin of an operand's value."""

    TEMPORARY = "temporary"
    MODEL_INPUT = "model input"
    MODEL_OUTPUT = "model output"
    CONSTANT_COPY = "copied constant"
    CONSTANT_REFERENCE = "referenced constant"
    OMITTED = "omitted"
    SUBMODEL = "submodel"

    __hash__ = object.__hash__  # computing an enum's own hash is slow, and every operand has a lifetime


@dataclass(frozen=True, slots=True)
class ChannelQuantization:
    """The channel dimension of an operand, and the channel scales: ``scales``, repeated ``repeats`` times."""

    dimension: int
    scales: tuple[float, ...]
    repeats: int = 1

    @property
    def count(self) -> int:
        """The number of scales."""
        return self.repeats * len(self.scales)


@dataclass(eq=False, slots=True)
class NnOperand:
    """One operand of a model. ``value`` has the known bytes of a copied constant."""

    type: int
    dimensions: tuple[int, ...] = ()
    scale: float = 0.0
    zero_point: int = 0
    channels: ChannelQuantization | None = None
    lifetime: Lifetime = Lifetime.TEMPORARY
    value: bytes | None = None
    submodel: NnModel | None = None

    @property
    def properties(self) -> tuple[object, ...]:
        """The type, the shape, the quantization and the origin of the value."""
        channel = None if self.channels is None else self.channels.dimension
        return self.type, self.dimensions, self.scale, self.zero_point, channel, self.lifetime

    @property
    def rank(self) -> int:
        """Number of dimensions, or 0 for a scalar and for a tensor of unknown rank."""
        return len(self.dimensions)

    @property
    def has_unknown_size(self) -> bool:
        """True if the tensor's rank or one of its dimensions is unknown."""
        return is_tensor(self.type) and (not self.dimensions or 0 in self.dimensions)

    @property
    def is_produced(self) -> bool:
        """True if an operation must write the operand before another operation may read the operand."""
        return self.lifetime is Lifetime.TEMPORARY or self.lifetime is Lifetime.MODEL_OUTPUT

    @property
    def byte_size(self) -> int:
        """The number of bytes of the value, or 0 if the number is unknown."""
        if not is_tensor(self.type):
            return element_size(self.type)
        if not self.dimensions:
            return 0
        size = element_size(self.type)
        for dimension in self.dimensions:
            size *= dimension
        return size


_T = OperandType

# The lowest and the highest zero point by type. These types need a positive scale. All other types need the scale 0.
_ZERO_POINTS: dict[int, tuple[int, int]] = {
    _T.TENSOR_QUANT8_ASYMM: (0, 255),
    _T.TENSOR_QUANT8_ASYMM_SIGNED: (-128, 127),
    _T.TENSOR_QUANT16_ASYMM: (0, 65535),
    _T.TENSOR_QUANT8_SYMM: (0, 0),
    _T.TENSOR_QUANT16_SYMM: (0, 0),
}
# The quantization of TENSOR_INT32 is checked when the model is finished. The quantization of OEM types is never checked.
_UNCHECKED = frozenset({_T.TENSOR_INT32, _T.OEM_SCALAR, _T.TENSOR_OEM_BYTE})


def check_operand_type(operand: NnOperand, has_pointer: bool = False) -> None:
    """Check an operand in the same way as addOperand. With ``has_pointer``, the pointer to the dimensions is not null.

    Upstream: Validation.cpp validateOperandTypeImpl.
    """
    call = Call.ADD_OPERAND
    if has_pointer and not operand.dimensions:
        refuse("operand-dimensions-pointer", call, "dimensions", "a pointer without dimensions", "a null pointer, or dimensions")
    if is_extension(operand.type) or not is_known_type(operand.type):
        refuse("operand-type", call, "type", operand.type, "an NNAPI type")
    type_ = type_of(operand.type)
    if is_tensor(operand.type):
        size = element_size(operand.type)
        for dimension in filter(None, operand.dimensions):
            size *= dimension
            if size > _MAX_BYTES:
                refuse("operand-bytes", call, "dimensions", list(operand.dimensions), f"at most {_MAX_BYTES} bytes")
    elif operand.dimensions:
        refuse("operand-scalar-dimensions", call, "dimensions", list(operand.dimensions), ForType("none", type_))
    if operand.type in _UNCHECKED:
        return
    lowest, highest = _ZERO_POINTS.get(operand.type, (0, 0))
    if not lowest <= operand.zero_point <= highest:
        needed = ForType(f"{lowest} to {highest}" if highest else "0", type_)
        refuse("operand-zero-point", call, "zero point", operand.zero_point, needed)
    if operand.type in _ZERO_POINTS:
        # The source only compares the scale with 0, but real runtimes also reject infinite scales.
        if not 0 < operand.scale < float("inf"):
            refuse("operand-scale", call, "scale", operand.scale, ForType("more than 0 and finite", type_))
    elif operand.scale != 0:
        refuse("operand-scale", call, "scale", operand.scale, ForType("0", type_))


def check_channels(operand: NnOperand, channels: ChannelQuantization) -> None:
    """Check the scales of a per-channel operand in the same way as setOperandSymmPerChannelQuantParams.

    Upstream: Validation.cpp validateOperandSymmPerChannelQuantParamsImpl.
    """
    call = Call.SET_CHANNEL_QUANTIZATION
    if operand.type != OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        refuse("channel-type", call, "type", type_of(operand.type), OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL)
    if not 0 <= channels.dimension < operand.rank:
        refuse("channel-dimension", call, "channel dimension", channels.dimension, f"less than the rank {operand.rank}")
    expected = operand.dimensions[channels.dimension]
    if expected == 0 or channels.count != expected:
        needed = f"{expected}, one for each channel" if expected else "a known number of channels"
        refuse("channel-count", call, "scales", channels.count, needed)
    for scale in channels.scales:
        if not scale > 0:
            refuse("channel-scale", call, "scale of a channel", scale, "more than 0")


def check_value(operand: NnOperand, length: int, call: Call = Call.SET_VALUE) -> None:
    """Check the length of a value with a pointer that is not null.

    Upstream: ModelBuilder.cpp setOperandValue, setOperandValueFromMemory.
    """
    if call == Call.SET_VALUE and length == 0:
        refuse("value-pointer", call, "length", 0, "more than 0 if the pointer is not null")
    if operand.has_unknown_size:
        refuse("value-shape", call, "dimensions", list(operand.dimensions), "known dimensions other than 0")
    is_free = call == Call.SET_VALUE and operand.type == OperandType.OEM_SCALAR
    if not is_free and length != operand.byte_size:
        refuse("value-length", call, "length", length, operand.byte_size)
    if length == 0:
        refuse("value-length", call, "length", 0, "more than 0")


def check_no_value(length: int) -> None:
    """Check the length of the value of an omitted operand. The value is a null pointer."""
    if length:
        refuse("value-pointer", Call.SET_VALUE, "length", length, "0 for a null pointer", ResultCode.BAD_DATA)


def operand_version(operand: NnOperand, subject: str = "an operand") -> Version:
    """Check an operand of a finished model. Return the version that the operand needs.

    Upstream: Validation.cpp validateOperand.
    """
    call = Call.FINISH_MODEL
    level = type_level(operand.type)
    if is_tensor(operand.type) and operand.rank == 0:
        level = max(level, 3)
    if operand.type == OperandType.TENSOR_INT32:
        if not operand.scale >= 0:
            refuse("operand-scale", call, f"scale of {subject}", operand.scale, ForType("0 or more", _T.TENSOR_INT32))
        if operand.zero_point != 0:
            refuse("operand-zero-point", call, f"zero point of {subject}", operand.zero_point, ForType("0", _T.TENSOR_INT32))
    elif operand.type == OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL and operand.channels is None:
        refuse("channel-missing", call, f"scales of {subject}", "none", "one for each channel")
    version = Version(level)
    return version if operand.submodel is None else version.combine(operand.submodel.version_as_submodel)


class Default(NamedTuple):
    """The type and the default value of an optional input."""

    type: OperandType
    value: int

    def holds(self, operand: NnOperand) -> bool:
        """Return whether an operand is a copied constant with the default value.

        The runtime does not read the values of other operands.
        """
        if operand.lifetime != Lifetime.CONSTANT_COPY or operand.value is None or operand.type != self.type:
            return False
        return int.from_bytes(operand.value, "little", signed=True) == self.value


FALSE = Default(OperandType.BOOL, 0)
ONE = Default(OperandType.INT32, 1)
MINUS_ONE = Default(OperandType.INT32, -1)


@dataclass(frozen=True, slots=True)
class OptionalInputs:
    """The optional inputs after the first ``start`` inputs of one form of an operation.

    ``marker`` has the position of an input, and the type that this input has only in this form. Two optional inputs may be valid
    only as a pair. Therefore, no input is dropped if exactly ``paired`` inputs would remain.
    """

    start: int
    defaults: tuple[Default, ...]
    marker: tuple[int, OperandType] | None = None
    paired: int | None = None

    def fits(self, inputs: Sequence[NnOperand]) -> bool:
        """Return whether the inputs match this form of the operation and include at least one optional input."""
        if not self.start < len(inputs) <= self.start + len(self.defaults):
            return False
        return self.marker is None or inputs[self.marker[0]].type == self.marker[1]

    def count_needed(self, inputs: Sequence[NnOperand]) -> int:
        """Return the number of inputs that remain if trailing inputs with default values are removed."""
        count = len(inputs)
        while count > self.start and self.defaults[count - 1 - self.start].holds(inputs[count - 1]):
            count -= 1
        return len(inputs) if count == self.paired else count
