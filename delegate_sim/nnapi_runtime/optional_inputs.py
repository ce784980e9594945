"""Optional inputs at the end of an operation, and the default value of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .operands import Lifetime, NnOperand
from .types import OperandType


@dataclass(frozen=True, slots=True)
class Default:
    """The type and default value of an optional input."""

    type: OperandType
    value: int

    def holds(self, operand: NnOperand) -> bool:
        """Return whether an operand is a copied constant with this value; the runtime does not read referenced constants."""
        if operand.lifetime != Lifetime.CONSTANT_COPY or operand.value is None or operand.type != self.type:
            return False
        return int.from_bytes(operand.value, "little", signed=True) == self.value


FALSE = Default(OperandType.BOOL, 0)
ONE = Default(OperandType.INT32, 1)
MINUS_ONE = Default(OperandType.INT32, -1)


@dataclass(frozen=True, slots=True)
class OptionalInputs:
    """Optional inputs after the ``start`` required ones.

    ``told_by`` is an input and the type that it has in this form of the operation only. ``paired`` is a number of inputs that
    must not remain after dropping, because two inputs that belong together would be separated.
    """

    start: int
    defaults: tuple[Default, ...]
    told_by: tuple[int, OperandType] | None = None
    paired: int | None = None

    def fits(self, inputs: Sequence[NnOperand]) -> bool:
        """Return whether the operation has this form and at least one of the optional inputs."""
        if not self.start < len(inputs) <= self.start + len(self.defaults):
            return False
        return self.told_by is None or inputs[self.told_by[0]].type == self.told_by[1]

    def count_needed(self, inputs: Sequence[NnOperand]) -> int:
        """Return the number of inputs that remain after trailing defaults are dropped."""
        count = len(inputs)
        while count > self.start and self.defaults[count - 1 - self.start].holds(inputs[count - 1]):
            count -= 1
        return len(inputs) if count == self.paired else count
