"""ML Drift's reading of shapes as batch, height, width and channels."""

from __future__ import annotations

from typing import NamedTuple


class Bhwc(NamedTuple):
    """Sizes or positions by axis (``BHWC``)."""

    b: int
    h: int
    w: int
    c: int

    def __str__(self) -> str:
        return f"{{bhwc, {{{self.b}, {self.h}, {self.w}, {self.c}}}}}"


_AXES = {0: (), 1: (0,), 2: (0, 3), 3: (0, 2, 3)}
"""Which axes the dimensions of a tensor of lower rank stand for."""


def axes_of(rank: int) -> tuple[int, ...]:
    """Return which axis each of the first dimensions stands for (``ExtractAxisFromIndex``)."""
    return _AXES.get(rank, (0, 1, 2, 3))


def bhwc(shape: tuple[int, ...]) -> Bhwc:
    """``ExtractTensorShape``: axes that a tensor does not have are 1; a fifth dimension is not looked at."""
    return filled(Bhwc(1, 1, 1, 1), axes_of(len(shape)), shape)


def filled(base: Bhwc, axes: tuple[int, ...], values: tuple[int, ...]) -> Bhwc:
    """Return sizes or positions with others along some axes."""
    found = list(base)
    for axis, value in zip(axes, values, strict=False):
        found[axis] = value
    return Bhwc(*found)


def is_linear(shape: tuple[int, ...]) -> bool:
    """``IsLinearConvertible``: whether only the last dimension may have more than one element."""
    return bool(shape) and all(size == 1 for size in shape[:-1])
