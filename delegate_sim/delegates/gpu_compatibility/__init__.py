"""Shapes on the GPU, and checks of a runtime function that both ML Drift and the older GPU delegate call.

Source: ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``). Each family of operators has a module
with the family's checks in the runtime's order. Both delegates add the checks of their own parsers.
"""

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
    """Return the sizes of a shape (``ExtractTensorShape``): 1 for an axis without a dimension. A fifth dimension is ignored."""
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
