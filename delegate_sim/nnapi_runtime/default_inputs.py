"""Trailing optional inputs that hold their default value, which ``finish`` drops.

That lowers the feature level which a device must have. Upstream: runtime/ModelBuilder.cpp getNumTrailingArgumentsToRemove.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .operands import Lifetime, NnOperand
from .types import AndroidRelease, OperandType, OperationType

if TYPE_CHECKING:
    from .model import NnOperation

_O = OperationType

DEFAULTS_DROPPED_SINCE = AndroidRelease.ANDROID_11
"""The first release whose ``finish`` drops them."""


@dataclass(frozen=True, slots=True)
class Default:
    """A type and the value that is the same as none."""

    type: OperandType
    value: int

    def holds(self, operand: NnOperand) -> bool:
        """Tell whether an operand is a copied constant with this value; referenced constants are not looked into."""
        if operand.lifetime != Lifetime.CONSTANT_COPY or operand.value is None or operand.type != self.type:
            return False
        return int.from_bytes(operand.value, "little", signed=True) == self.value


FALSE = Default(OperandType.BOOL, 0)
ONE = Default(OperandType.INT32, 1)
MINUS_ONE = Default(OperandType.INT32, -1)


@dataclass(frozen=True, slots=True)
class Tail:
    """Optional inputs after the ``start`` required ones.

    ``told_by`` is the input whose type tells this form from others of the same operation; ``paired`` the number of inputs that
    may not be left over, because two inputs come together.
    """

    start: int
    defaults: tuple[Default, ...]
    told_by: tuple[int, OperandType] | None = None
    paired: int | None = None

    def fits(self, inputs: Sequence[NnOperand]) -> bool:
        """Tell whether the operation has this form and any of the optional inputs."""
        if not self.start < len(inputs) <= self.start + len(self.defaults):
            return False
        return self.told_by is None or inputs[self.told_by[0]].type == self.told_by[1]


def _padded(place: int) -> tuple[Tail, ...]:
    """Layout and two dilation factors of a convolution whose input ``place`` is the first after implicit padding."""
    defaults = (FALSE, ONE, ONE)
    return (
        Tail(place + 3, defaults, (place, OperandType.INT32), place + 5),
        Tail(place, defaults, (place, OperandType.BOOL), place + 2),
    )


_POOLING = (
    Tail(10, (FALSE,), (7, OperandType.INT32)),
    Tail(7, (FALSE,), (7, OperandType.BOOL)),
)

TAILS: dict[int, tuple[Tail, ...]] = {
    _O.AVERAGE_POOL_2D: _POOLING,
    _O.L2_POOL_2D: _POOLING,
    _O.MAX_POOL_2D: _POOLING,
    _O.CONV_2D: _padded(7),
    _O.DEPTHWISE_CONV_2D: _padded(8),
    _O.DEPTH_TO_SPACE: (Tail(2, (FALSE,)),),
    _O.SPACE_TO_DEPTH: (Tail(2, (FALSE,)),),
    _O.BATCH_TO_SPACE_ND: (Tail(2, (FALSE,)),),
    _O.SPACE_TO_BATCH_ND: (Tail(3, (FALSE,)),),
    _O.L2_NORMALIZATION: (Tail(1, (MINUS_ONE,)),),
    _O.LOCAL_RESPONSE_NORMALIZATION: (Tail(5, (MINUS_ONE,)),),
    _O.SOFTMAX: (Tail(2, (MINUS_ONE,)),),
    _O.RESIZE_BILINEAR: (Tail(3, (FALSE, FALSE, FALSE)),),
    _O.RESIZE_NEAREST_NEIGHBOR: (Tail(4, (FALSE, FALSE)),),
}


def without_default_inputs(operation: NnOperation, operands: Sequence[NnOperand]) -> NnOperation:
    """Return the operation without trailing inputs that hold their defaults."""
    inputs = [operands[index] for index in operation.inputs]
    tail = next((one for one in TAILS.get(operation.type, ()) if one.fits(inputs)), None)
    if tail is None:
        return operation
    count = len(inputs)
    while count > tail.start and tail.defaults[count - 1 - tail.start].holds(inputs[count - 1]):
        count -= 1
    return operation if count == tail.paired else replace(operation, inputs=operation.inputs[:count])
