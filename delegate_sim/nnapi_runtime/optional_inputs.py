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
        """Return whether an operand is a copied constant with this value.

        The runtime does not read the values of referenced constants.
        """
        if operand.lifetime != Lifetime.CONSTANT_COPY or operand.value is None or operand.type != self.type:
            return False
        return int.from_bytes(operand.value, "little", signed=True) == self.value


FALSE = Default(OperandType.BOOL, 0)
ONE = Default(OperandType.INT32, 1)
MINUS_ONE = Default(OperandType.INT32, -1)


@dataclass(frozen=True, slots=True)
class OptionalInputs:
    """The optional inputs that follow the first ``start`` inputs, which are required.

    An operation may have several forms with different optional inputs. ``told_by`` tells these forms apart: it is the position of
    an input, and a type that this input has in this form only. If dropping inputs with default values would leave exactly
    ``paired`` inputs, nothing is dropped. This keeps two inputs together that are valid only as a pair.
    """

    start: int
    defaults: tuple[Default, ...]
    told_by: tuple[int, OperandType] | None = None
    paired: int | None = None

    def fits(self, inputs: Sequence[NnOperand]) -> bool:
        """Return whether the inputs have this form and include at least one of the optional inputs."""
        if not self.start < len(inputs) <= self.start + len(self.defaults):
            return False
        return self.told_by is None or inputs[self.told_by[0]].type == self.told_by[1]

    def count_needed(self, inputs: Sequence[NnOperand]) -> int:
        """Return the number of inputs that remain after trailing inputs with default values are dropped."""
        count = len(inputs)
        while count > self.start and self.defaults[count - 1 - self.start].holds(inputs[count - 1]):
            count -= 1
        return len(inputs) if count == self.paired else count
