"""Join neighboring dimensions that an operator treats alike, in order to reduce the rank."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

MOST = 4
"""Largest number of dimensions that delegates support."""

_Axis = TypeVar("_Axis")


def joined(axes: Sequence[_Axis], *joins: Callable[[_Axis, _Axis], _Axis | None], most: int = MOST) -> list[_Axis] | None:
    """Join neighboring dimensions, beginning with the first, until at most ``most`` are left. Return None if that is impossible.

    Each function in ``joins`` joins two neighbors, or returns None. A function is used only if the earlier functions cannot
    join any pair.
    """
    remaining = list(axes)
    while len(remaining) > most:
        for join, place in itertools.product(joins, range(len(remaining) - 1)):
            both = join(remaining[place], remaining[place + 1])
            if both is not None:
                remaining[place : place + 2] = [both]
                break
        else:
            return None
    return remaining


class SharedAxis(NamedTuple):
    """A dimension of a broadcast result. ``stretched`` tells for each operand whether it is broadcast along this dimension."""

    size: int
    stretched: tuple[bool, ...]

    def joined(self, other: SharedAxis) -> SharedAxis | None:
        """Join two dimensions. Return None if the dimensions cannot be joined.

        Two dimensions can be joined if one has size 1, or if the same operands are broadcast along both.
        """
        if self.size == 1 or other.size == 1:
            return self if other.size == 1 else other
        return SharedAxis(self.size * other.size, self.stretched) if self.stretched == other.stretched else None

    def of(self, operand: int) -> int:
        """Return an operand's size along the dimension."""
        return 1 if self.stretched[operand] else self.size


def shared_axes(target: Sequence[int], operands: Sequence[Sequence[int]]) -> list[SharedAxis] | None:
    """Return the dimensions of the shape ``target``. Return None if an operand cannot be broadcast to this shape."""
    rank = len(target)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in operands]
    if any(len(shape) != rank or any(own not in (1, size) for own, size in zip(shape, target, strict=True)) for shape in padded):
        return None
    return [SharedAxis(size, tuple([shape[axis] != size for shape in padded])) for axis, size in enumerate(target)]


class RoleAxis(NamedTuple):
    """A dimension with its role in an operator."""

    size: int
    role: object

    def joined(self, other: RoleAxis) -> RoleAxis | None:
        """Join two dimensions with the same role. Return None if the roles differ."""
        return RoleAxis(self.size * other.size, self.role) if self.role == other.role else None

    def joined_if_single(self, other: RoleAxis) -> RoleAxis | None:
        """Join two dimensions if at least one has size 1. Otherwise, return None."""
        return self if other.size == 1 else other if self.size == 1 else None


def around(shape: Sequence[int], axis: int) -> tuple[tuple[int, ...], int] | None:
    """Join the dimensions before ``axis``, and the dimensions after ``axis``. Return the shape and the new position of ``axis``.

    Return None if too many dimensions would be left.
    """
    roles = [(place > axis) - (place < axis) for place in range(len(shape))]
    axes = joined([RoleAxis(size, role) for size, role in zip(shape, roles, strict=True)], RoleAxis.joined)
    if axes is None:
        return None
    return tuple([group.size for group in axes]), [group.role for group in axes].index(0)


class CutAxis(NamedTuple):
    """A dimension that is sliced."""

    size: int
    start: int
    taken: int
    stride: int

    @property
    def is_whole(self) -> bool:
        """True if the slice takes all elements of the dimension."""
        return self.taken == self.size

    def joined(self, other: CutAxis) -> CutAxis | None:
        """Join two dimensions if both are taken whole, or if one has size 1. Otherwise, return None."""
        if self.size == 1 or other.size == 1:
            return self if other.size == 1 else other
        size = self.size * other.size
        return CutAxis(size, 0, size, 1) if self.is_whole and other.is_whole else None

    def joined_with_inner(self, inner: CutAxis) -> CutAxis | None:
        """Join a sliced dimension and the next dimension, ``inner``.

        Return None if the stride is not 1, or if the slice does not take all of ``inner``.
        """
        if self.stride != 1 or not inner.is_whole:
            return None
        return CutAxis(self.size * inner.size, self.start * inner.size, self.taken * inner.size, 1)


class PaddedAxis(NamedTuple):
    """A dimension with padding before and after the elements."""

    size: int
    before: int
    behind: int

    @property
    def is_same(self) -> bool:
        """True if the dimension has no padding."""
        return not self.before and not self.behind

    def joined(self, other: PaddedAxis) -> PaddedAxis | None:
        """Join two dimensions if both have no padding, or if one has no padding and size 1. Otherwise, return None."""
        if self.is_same and other.is_same:
            return PaddedAxis(self.size * other.size, 0, 0)
        return other if self.is_same and self.size == 1 else self if other.is_same and other.size == 1 else None

    def joined_with_inner(self, inner: PaddedAxis) -> PaddedAxis | None:
        """Join a dimension and the next dimension, ``inner``, if ``inner`` has no padding. Otherwise, return None."""
        return PaddedAxis(*[number * inner.size for number in self]) if inner.is_same else None


class TiledAxis(NamedTuple):
    """A dimension that is repeated."""

    size: int
    multiple: int

    def joined(self, other: TiledAxis) -> TiledAxis | None:
        """Join two dimensions, or return None if that is impossible.

        Two dimensions can be joined if the inner dimension is not repeated. They can also be joined if the outer dimension has
        size 1 and is not repeated.
        """
        if other.multiple == 1:
            return TiledAxis(self.size * other.size, self.multiple)
        return other if self == (1, 1) else None
