"""ML Drift's mapping of shapes to batch, height, width and channels."""

from __future__ import annotations

from typing import NamedTuple


class Bhwc(NamedTuple):
    """One number for each axis (``BHWC``), such as a size or a position."""

    b: int
    h: int
    w: int
    c: int

    def __str__(self) -> str:
        return f"{{bhwc, {{{self.b}, {self.h}, {self.w}, {self.c}}}}}"


_AXES = {0: (), 1: (0,), 2: (0, 3), 3: (0, 2, 3)}
"""The axis of each dimension of a tensor, by the tensor's rank."""


def axes_of(rank: int) -> tuple[int, ...]:
    """Return the axis of each dimension of a tensor (``ExtractAxisFromIndex``). A fifth dimension has no axis."""
    return _AXES.get(rank, (0, 1, 2, 3))


def bhwc(shape: tuple[int, ...]) -> Bhwc:
    """Return the batch, height, width and channels of a shape (``ExtractTensorShape``).

    An axis without a dimension has size 1. A fifth dimension is ignored.
    """
    return filled(Bhwc(1, 1, 1, 1), axes_of(len(shape)), shape)


def filled(base: Bhwc, axes: tuple[int, ...], values: tuple[int, ...]) -> Bhwc:
    """Return a copy of ``base`` with ``values`` at ``axes``."""
    result = list(base)
    for axis, value in zip(axes, values, strict=False):
        result[axis] = value
    return Bhwc(*result)


def is_linear(shape: tuple[int, ...]) -> bool:
    """Return whether all dimensions before the last have size 1 (``IsLinearConvertible``); False for a scalar."""
    return bool(shape) and all(size == 1 for size in shape[:-1])


def groups_of(source: tuple[int, ...], weights: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the number of groups of a CONV_2D, and the input and output channels of each group.

    The arguments are shapes of rank 4. For other shapes, the number of groups is 0.
    """
    if len(source) != 4 or len(weights) != 4 or len(result) != 4 or weights[3] <= 0 or source[3] < weights[3]:
        return 0, 0, 0
    groups = source[3] // weights[3]
    return groups, weights[3], result[3] // groups


def are_groups_split(source: tuple[int, ...], weights: tuple[int, ...], result: tuple[int, ...]) -> bool:
    """Return whether ML Drift splits a CONV_2D with constant weights into one convolution for each group."""
    groups, inputs, outputs = groups_of(source, weights, result)
    is_depthwise = inputs == 1 and outputs == 1
    return groups > 1 and not is_depthwise and (inputs % 4 > 0 or outputs % 4 > 0)
