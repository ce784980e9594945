"""What is known about the values of tensors."""

from __future__ import annotations

from ....graph.activation import fused_activation
from ....graph.graph import NodeView
from ....model.model import Tensor
from ..rules.checks import integers
from .rule import Part

_NOT_NEGATIVE = frozenset(
    "ABS EXP LOGISTIC RELU RELU6 RELU_0_TO_1 SOFTMAX SQRT RSQRT SQUARE SQUARED_DIFFERENCE".split()
)
"""Operators whose results are never negative."""
_CLIPPED = frozenset({"RELU", "RELU6"})


def scalar_values(node: NodeView, tensor: Tensor) -> list[float]:
    """Return the elements of a constant, or an empty list if they are unknown."""
    value = node.value(tensor) if tensor.is_constant else None
    return [] if value is None else [float(element) for element in value.tolist()]


def is_never_negative(part: Part, tensor: Tensor) -> bool:
    """Return whether no element of a tensor is negative: it is such a constant, or the operator that computes it says so."""
    if tensor.is_constant:
        value = part.graph.model.constant(tensor)
        return value is not None and tensor.quantization is None and min(value.tolist(), default=0) >= 0
    writer = part.writer(tensor)
    return writer is not None and (writer.op in _NOT_NEGATIVE or fused_activation(writer) in _CLIPPED)


def paddings(node: NodeView) -> list[tuple[int, int]]:
    """Return the numbers of elements before and after each dimension, or an empty list if they are unknown."""
    numbers = integers(node, 1)
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True)) if len(numbers) % 2 == 0 else []
    return pairs if len(pairs) == node.input(0).rank else []


def pad_value(node: NodeView) -> float:
    """Return the value with which a PAD or PADV2 fills, as a real number. An unknown value counts as 0."""
    filling = node.input(2)
    numbers = scalar_values(node, filling)
    if not numbers:
        return 0.0
    return (numbers[0] - filling.zero_point) * filling.scale if filling.scale else numbers[0]
