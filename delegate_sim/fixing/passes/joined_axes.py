"""Join neighboring dimensions that an operator treats alike until few are left."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

MOST = 4
"""Dimensions that delegates take."""

_Axis = TypeVar("_Axis")


def joined(axes: Sequence[_Axis], *joins: Callable[[_Axis, _Axis], _Axis | None], most: int = MOST) -> list[_Axis] | None:
    """Join neighbors, the first ones first, until at most so many are left; None if that cannot be.

    ``joins`` make one of two neighbors, None of those that do not go together; a later one is asked only where no earlier one
    finds a pair.
    """
    found = list(axes)
    while len(found) > most:
        for join, place in itertools.product(joins, range(len(found) - 1)):
            both = join(found[place], found[place + 1])
            if both is not None:
                found[place : place + 2] = [both]
                break
        else:
            return None
    return found


class SharedAxis(NamedTuple):
    """A dimension of the result of operands that are stretched to it where they have one element."""

    size: int
    stretched: tuple[bool, ...]

    def joined(self, other: SharedAxis) -> SharedAxis | None:
        """Join two along which the same operands are stretched."""
        if self.size == 1 or other.size == 1:
            return self if other.size == 1 else other
        return SharedAxis(self.size * other.size, self.stretched) if self.stretched == other.stretched else None

    def of(self, operand: int) -> int:
        """Return how many elements an operand has along it."""
        return 1 if self.stretched[operand] else self.size


def shared_axes(target: Sequence[int], operands: Sequence[Sequence[int]]) -> list[SharedAxis] | None:
    """Return the dimensions of a result of operands of these shapes, None if they cannot be stretched to it."""
    rank = len(target)
    whole = [(1,) * (rank - len(shape)) + tuple(shape) for shape in operands]
    if any(len(shape) != rank or any(own not in (1, size) for own, size in zip(shape, target, strict=True)) for shape in whole):
        return None
    return [SharedAxis(size, tuple([shape[axis] != size for shape in whole])) for axis, size in enumerate(target)]


class RoleAxis(NamedTuple):
    """A dimension with what it is to the operator."""

    size: int
    role: object

    def joined(self, other: RoleAxis) -> RoleAxis | None:
        """Join two of one role."""
        return RoleAxis(self.size * other.size, self.role) if self.role == other.role else None

    def joined_if_single(self, other: RoleAxis) -> RoleAxis | None:
        """Join two of which one has a single element, whatever it is to the operator."""
        return self if other.size == 1 else other if self.size == 1 else None


def around(shape: Sequence[int], axis: int) -> tuple[tuple[int, ...], int] | None:
    """Return a shape in which dimensions before and behind one are joined, and where that one then is."""
    roles = [(place > axis) - (place < axis) for place in range(len(shape))]
    found = joined([RoleAxis(size, role) for size, role in zip(shape, roles, strict=True)], RoleAxis.joined)
    if found is None:
        return None
    return tuple([each.size for each in found]), [each.role for each in found].index(0)


class CutAxis(NamedTuple):
    """A dimension of which some elements are taken."""

    size: int
    start: int
    taken: int
    stride: int

    @property
    def is_whole(self) -> bool:
        """True if all are taken."""
        return self.taken == self.size

    def joined(self, other: CutAxis) -> CutAxis | None:
        """Join two that are taken whole, or one of a single element with any."""
        if self.size == 1 or other.size == 1:
            return self if other.size == 1 else other
        size = self.size * other.size
        return CutAxis(size, 0, size, 1) if self.is_whole and other.is_whole else None

    def joined_with_inner(self, inner: CutAxis) -> CutAxis | None:
        """Join one of which a stretch is taken with one behind it that is taken whole."""
        if self.stride != 1 or not inner.is_whole:
            return None
        return CutAxis(self.size * inner.size, self.start * inner.size, self.taken * inner.size, 1)


class PaddedAxis(NamedTuple):
    """A dimension that gets elements before and behind its own."""

    size: int
    before: int
    behind: int

    @property
    def is_same(self) -> bool:
        """True if it gets none."""
        return not self.before and not self.behind

    def joined(self, other: PaddedAxis) -> PaddedAxis | None:
        """Join two that get none, or one of a single element that gets none with any."""
        if self.is_same and other.is_same:
            return PaddedAxis(self.size * other.size, 0, 0)
        return other if self.is_same and self.size == 1 else self if other.is_same and other.size == 1 else None

    def joined_with_inner(self, inner: PaddedAxis) -> PaddedAxis | None:
        """Join one with one behind it that gets none."""
        return PaddedAxis(*[number * inner.size for number in self]) if inner.is_same else None


class TiledAxis(NamedTuple):
    """A dimension that is repeated."""

    size: int
    multiple: int

    def joined(self, other: TiledAxis) -> TiledAxis | None:
        """Join two of which the inner one is not repeated, or one of a single element that is not with any."""
        if other.multiple == 1:
            return TiledAxis(self.size * other.size, self.multiple)
        return other if self == (1, 1) else None
