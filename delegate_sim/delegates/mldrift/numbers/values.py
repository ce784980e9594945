"""Facts about the values of tensors."""

from __future__ import annotations

from ....graph.graph import NodeView, fused_activation
from ....model.model import Tensor
from ....model.numbers import bounds
from ..rules.checks import integers
from .rule import GraphPart

_POSITIVE = frozenset({"EXP", "LOGISTIC", "RSQRT", "SOFTMAX"})
"""Operators whose results are positive, unless they underflow."""
_NOT_NEGATIVE = _POSITIVE | {"ABS", "RELU", "RELU6", "RELU_0_TO_1", "SQRT", "SQUARE", "SQUARED_DIFFERENCE"}
"""Operators whose results are never negative."""
_CLIPPED = frozenset({"RELU", "RELU6"})


def is_never_negative(part: GraphPart, tensor: Tensor) -> bool:
    """Return whether no element of a tensor is negative: it is such a constant, or the operator that computes it says so."""
    values = part.constant(tensor)
    if values is not None:
        return bool(bounds(values)[0] >= 0)
    writer = part.writer(tensor)
    return writer is not None and (writer.op in _NOT_NEGATIVE or fused_activation(writer) in _CLIPPED)


def is_positive(part: GraphPart, tensor: Tensor) -> bool:
    """Return whether all elements of a tensor are positive: it is such a constant, or the operator that computes it says so."""
    values = part.constant(tensor)
    if values is not None:
        return bool(bounds(values)[0] > 0)
    writer = part.writer(tensor)
    return writer is not None and writer.op in _POSITIVE


def paddings(node: NodeView) -> list[tuple[int, int]]:
    """Return the numbers of elements before and after each dimension, or an empty list if they are unknown."""
    numbers = integers(node, 1)
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True)) if len(numbers) % 2 == 0 else []
    return pairs if len(pairs) == node.input(0).rank else []


def pad_value(node: NodeView) -> float:
    """Return the value with which a PAD or PADV2 fills, as a real number. An unknown value counts as 0."""
    filling = node.input(2)
    stored = node.value(filling) if filling.is_constant else None
    if stored is None or not len(stored):
        return 0.0
    return (float(stored[0]) - filling.zero_point) * filling.scale if filling.scale else float(stored[0])
