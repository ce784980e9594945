"""Optional inputs at the end of an operation, and their default values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .operands import Lifetime, NnOperand
from .types import OperandType


@dataclass(frozen=True, slots=True)
class Default:
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

    ``told_by`` has the position of an input, and the type that this input has only in this form. Two optional inputs may be valid
    only as a pair. Therefore, no input is dropped if exactly ``paired`` inputs would remain.
    """

    start: int
    defaults: tuple[Default, ...]
    told_by: tuple[int, OperandType] | None = None
    paired: int | None = None

    def fits(self, inputs: Sequence[NnOperand]) -> bool:
        """Return whether the inputs match this form of the operation and include at least one optional input."""
        if not self.start < len(inputs) <= self.start + len(self.defaults):
            return False
        return self.told_by is None or inputs[self.told_by[0]].type == self.told_by[1]

    def count_needed(self, inputs: Sequence[NnOperand]) -> int:
        """Return the number of inputs that remain if trailing inputs with default values are removed."""
        count = len(inputs)
        while count > self.start and self.defaults[count - 1 - self.start].holds(inputs[count - 1]):
            count -= 1
        return len(inputs) if count == self.paired else count
