"""Operands and results in rules, with their names."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.graph import NodeView
from ..model.model import NO_TENSOR, OPTIONAL_TENSOR, Tensor


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand or a result of a node, with its name in messages."""

    position: int
    name: str
    is_result: bool = False

    @property
    def data(self) -> tuple[str, int]:
        """The side (``input`` or ``output``) and the position, as plain data."""
        return ("output" if self.is_result else "input", self.position)

    def tensor(self, node: NodeView) -> Tensor:
        """Return the tensor, or ``NO_TENSOR`` if the operand is omitted or missing."""
        indices = node.node.outputs if self.is_result else node.node.inputs
        index = indices[self.position] if self.position < len(indices) else OPTIONAL_TENSOR
        return node.graph.tensors[index] if index >= 0 else NO_TENSOR

    def is_given(self, node: NodeView) -> bool:
        """Return whether the node has this operand. False if the operand is omitted."""
        indices = node.node.outputs if self.is_result else node.node.inputs
        return self.position < len(indices) and indices[self.position] >= 0


def operand(position: int, name: str = "") -> Operand:
    """Return the operand at a position."""
    return Operand(position, name or f"input {position}")


def result(position: int = 0, name: str = "") -> Operand:
    """Return the result at a position."""
    return Operand(position, name or (f"output {position}" if position else "output"), is_result=True)


INPUT = operand(0)
OUTPUT = result()
