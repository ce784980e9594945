"""Rewrite STRIDED_SLICE as a STRIDED_SLICE with fewer options, or as SLICE. Rewrite GATHER_ND as SLICE."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model.model import Node, Tensor
from ..pass_workspace import Work
from .base import Exactness, Pass, node_pass

MOST = 4
"""Largest number of dimensions that delegates support."""
BROADCASTING = """
ADD ATAN2 DIV EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_OR MAXIMUM MINIMUM MUL
NOT_EQUAL POW SQUARED_DIFFERENCE SUB
"""
"""Operators with two operands that are broadcast to the shape of the result."""
_MOST_JOINED = 16
"""Largest number of dimensions that are joined. Kernels of more than one operand support fewer."""
_LARGEST = 65535
"""The largest size of a dimension that is not the first, which all delegates take."""


class _Sized(Protocol):
    """A dimension with a size."""

    @property
    def size(self) -> int:
        """The number of elements along the dimension."""


_Axis = TypeVar("_Axis", bound=_Sized)


def joined(axes: Sequence[_Axis], *joins: Callable[[_Axis, _Axis], _Axis | None], most: int = MOST) -> list[_Axis] | None:
    """Join neighboring dimensions, beginning with the first, until at most ``most`` are left.

    Return None if that is impossible, or if there are very many dimensions.

    Each function in ``joins`` joins two neighbors, or returns None. A function is used only if the earlier functions cannot
    join any pair. A first dimension of size 1 stays if another pair can be joined, because many delegates need a batch of 1.
    """
    remaining = list(axes)
    if len(remaining) > _MOST_JOINED:
        return None
    while len(remaining) > most:
        for join in joins:
            neighbors = enumerate(itertools.pairwise(remaining))
            pairs = [(place, both) for place, (one, other) in neighbors if (both := join(one, other)) is not None]
            if pairs:
                place, both = min(pairs, key=lambda pair: _cost(remaining[0].size, pair[0], pair[1].size))
                remaining[place : place + 2] = [both]
                break
        else:
            return None
    return remaining


def _cost(first: int, place: int, size: int) -> int:
    """Return how late the dimensions at ``place`` and ``place + 1`` are joined to one of ``size`` elements.

    ``first`` is the size of the first dimension.
    """
    if first != 1:
        return 0
    return 1 if not place else 2 * (size > _LARGEST)


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


def lowered(
    work: Work,
    node: Node,
    operands: Mapping[int, Sequence[int]],
    results: Sequence[Sequence[int]],
    constants: Mapping[int, Any] = MappingProxyType({}),
    *,
    keeps_rank: bool = False,
    **options: Any,
) -> Sequence[Node] | None:
    """Return a node between RESHAPEs of its operands and results. Return None if that is impossible.

    ``operands`` maps operand positions to new shapes. ``results`` lists the new shapes of results. ``constants`` maps the
    positions of index operands to new values. ``options`` are the changed options. If ``keeps_rank`` is false, operands may lack
    leading dimensions of size 1.
    """
    before: list[Node] = []
    behind: list[Node] = []
    inputs, outputs = list(node.inputs), list(node.outputs)
    for position, shape in operands.items():
        operand = with_shape(work, work.input(node, position), tuple(shape), before, keeps_rank=keeps_rank)
        if operand is None:
            return None
        inputs[position] = operand
    for position, values in constants.items():
        inputs[position] = work.constant(f"{work.output(node).name}/operand_{position}", "INT32", values)
    for place, shape in enumerate(results):
        target = work.output(node, place)
        if target.is_per_channel:
            return None
        if target.shape != tuple(shape):
            outputs[place] = work.result(target, f"of_rank_{len(shape)}", shape)
            behind.append(work.reshape(outputs[place], target.index))
    same = node._replace(index=-1, inputs=tuple(inputs), outputs=tuple(outputs))
    return [*before, work.editor.with_options(same, **options) if options else same, *behind]


def with_shape(work: Work, tensor: Tensor, shape: tuple[int, ...], nodes: list[Node], *, keeps_rank: bool = False) -> int | None:
    """Return a tensor with the elements of ``tensor`` in another shape. Return None if that is impossible.

    If a RESHAPE is needed, it is appended to ``nodes``. If ``keeps_rank`` is false, leading dimensions of size 1 may be left
    out.
    """
    is_padded = not keeps_rank and tensor.rank < len(shape) and _without_ones(tensor.shape) == _without_ones(shape)
    if tensor.shape == shape or is_padded:
        return tensor.index
    if tensor.is_per_channel:
        return None
    if tensor.is_constant:
        return work.reshaped(tensor, shape) if work.has_elements(tensor) else None
    result = work.result(tensor, f"of_rank_{len(shape)}", shape)
    nodes.append(work.reshape(tensor.index, result))
    return result


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without its leading dimensions of size 1. Broadcasting ignores these dimensions."""
    return tuple(itertools.dropwhile(lambda size: size == 1, shape))


_MOST_INDICES = 1 << 16


def cuts(work: Work, node: Node) -> list[CutAxis] | None:
    """Return a node's slice along each dimension. Return None if a slice is unknown, or a stride is negative."""
    return _sliced(work, node) if node.op == "SLICE" else _strided(work, node)


def _sliced(work: Work, node: Node) -> list[CutAxis] | None:
    source = work.input(node, 0)
    begin, lengths = [work.integers(work.input(node, position)) for position in (1, 2)]
    if work.is_open(source) or begin is None or lengths is None or not begin.size == lengths.size == source.rank:
        return None
    numbers = zip(source.shape, begin.reshape(-1).tolist(), lengths.reshape(-1).tolist(), strict=True)
    axes = [CutAxis(size, start, size - start if length == -1 else length, 1) for size, start, length in numbers]
    return axes if all(0 <= axis.start < axis.start + axis.taken <= axis.size for axis in axes) else None


def _strided(work: Work, node: Node) -> list[CutAxis] | None:
    source, options = work.input(node, 0), work.options(node)
    values = [work.integers(work.input(node, position)) for position in (1, 2, 3)]
    if work.is_open(source, work.output(node)) or options.offset:
        return None
    begin, end, strides = [None if value is None else [int(number) for number in value.reshape(-1)] for value in values]
    if begin is None or end is None or strides is None or not len(begin) == len(end) == len(strides):
        return None
    places = _axes_of(len(begin), source.rank, options.ellipsis_mask, options.new_axis_mask)
    if places is None or any(strides[place] < 1 for place, _ in places):
        return None
    axes = [CutAxis(size, 0, size, 1) for size in source.shape]
    for place, axis in places:
        bit, size = 1 << place, source.shape[axis]
        stride = strides[place]
        first = 0 if options.begin_mask & bit else _clamped(begin[place], size)
        last = size if options.end_mask & bit else _clamped(end[place], size)
        if options.shrink_axis_mask & bit:
            first = begin[place] + size if begin[place] < 0 else begin[place]
            last, stride = first + 1, 1
        if not 0 <= first < last <= size:
            return None
        axes[axis] = CutAxis(size, first, -(-(last - first) // stride), stride)
    return axes


def _axes_of(count: int, rank: int, ellipsis: int, new_axis: int) -> list[tuple[int, int]] | None:
    """Return pairs of a position in begin, end and strides, and the dimension that the values at this position slice.

    An ellipsis slices all dimensions that no position slices. A new axis slices no dimension. Return None if there are more
    positions than dimensions.
    """
    if ellipsis & (ellipsis - 1):
        return None
    # bounded: the positions are a constant in the file
    slicing = [place for place in range(count) if not (ellipsis | new_axis) >> place & 1]
    skipped = rank - len(slicing)
    if skipped < 0:
        return None
    return [(place, axis + (skipped if 0 < ellipsis < 1 << place else 0)) for axis, place in enumerate(slicing)]


def _clamped(position: int, size: int) -> int:
    return min(max(position + size if position < 0 else position, 0), size)


def _rewrite(work: Work, node: Node, *, strided: bool) -> Sequence[Node] | None:
    cut_axes = cuts(work, node)
    target = work.output(node)
    if not cut_axes or any(axis.stride != 1 for axis in cut_axes):
        return None
    starts, sizes = [axis.start for axis in cut_axes], [axis.taken for axis in cut_axes]
    if element_count(sizes) != target.element_count:
        return None
    is_same = tuple(sizes) == target.shape
    options = dict(iter(work.options(node)))
    if strided and is_same and not any(value for name, value in options.items() if name.endswith("mask")):
        return None
    result = node.outputs[0] if is_same else work.result(target, "of_whole_rank", sizes)
    begin = work.constant(f"{target.name}/begin", "INT32", starts)
    if strided:
        end = work.constant(f"{target.name}/end", "INT32", np.add(starts, sizes))
        ones = work.constant(f"{target.name}/strides", "INT32", np.ones(len(starts)))
        sliced = work.node("STRIDED_SLICE", [node.inputs[0], begin, end, ones], [result])
    else:
        size = work.constant(f"{target.name}/size", "INT32", sizes)
        sliced = work.node("SLICE", [node.inputs[0], begin, size], [result])
    return [sliced] if is_same else [sliced, work.reshape(result, node.outputs[0])]


def _gather_box(work: Work, node: Node) -> Sequence[Node] | None:
    source, indices, target = work.input(node, 0), work.input(node, 1), work.output(node)
    if work.is_open(source, target) or source.is_per_channel or not 0 < indices.element_count <= _MOST_INDICES:
        return None
    values = work.integers(indices)
    depth = indices.shape[-1] if indices.shape else 0
    if values is None or not 0 < depth <= source.rank:
        return None
    vectors = values.reshape(-1, depth)
    starts, places = vectors[0].tolist(), vectors - vectors[0]
    sizes = [int(size) for size in places[-1] + 1]
    ends = [start + size for start, size in zip(starts, sizes, strict=True)]
    if min(sizes) < 1 or min(starts) < 0 or any(end > size for end, size in zip(ends, source.shape, strict=False)):
        return None
    if element_count(sizes) != len(vectors) or (places < 0).any() or (places >= sizes).any():
        return None
    if not np.array_equal(np.ravel_multi_index(tuple(places.T), tuple(sizes)), np.arange(len(vectors))):
        return None
    cut = [*sizes, *source.shape[depth:]]
    if element_count(cut) != target.element_count:
        return None
    if tuple(cut) == source.shape:
        return [work.reshape(source.index, target.index)]
    result = work.result(target, "of_whole_rank", cut)
    begin = work.constant(f"{target.name}/begin", "INT32", [*starts, *[0 for _ in source.shape[depth:]]])
    size = work.constant(f"{target.name}/size", "INT32", cut)
    return [work.node("SLICE", [source.index, begin, size], [result]), work.reshape(result, target.index)]


PASSES: tuple[Pass, ...] = (
    node_pass("strided-slice-without-masks", "STRIDED_SLICE", Exactness.EXACT, functools.partial(_rewrite, strided=True)),
    node_pass("strided-slice-as-slice", "STRIDED_SLICE", Exactness.EXACT, functools.partial(_rewrite, strided=False)),
    node_pass("gather-nd-as-slice", "GATHER_ND", Exactness.EXACT, _gather_box),
)
