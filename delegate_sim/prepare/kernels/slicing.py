"""Prepare functions of operators that extract, replace or reverse a part of a tensor, such as SLICE and STRIDED_SLICE."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...foundation.float32 import float32, quotient
from ...foundation.limits import element_count
from ...model import schema
from ...model.numbers import StoredNumbers, as_list, kind_of, picked, read_as
from ..kernel import KernelNode, kernel
from ..operands import HALF_TYPES_LATER, INT32_MAX
from ..tensors import KernelTensor, first_unknown, has_unspecified_dimension, known_elements, positions_in

_SMALLEST_INT32 = -(2**31)
_SLICE_FORMER_MAX_RANK = 5
_STRIDED_SLICE_MAX_INDICES = 31
_STRIDED_SLICE_FORMER_MAX_RANK = 5
_STRIDED_SLICE_WIDTHS = frozenset({8, 16, 32, 64})
"""The widths of elements, in bits, that STRIDED_SLICE can copy."""
_STRIDED_SLICE_FORMER_TYPES = frozenset({"FLOAT32", "INT32", "INT64", "UINT8", "UINT32", "INT8", "INT16", "BOOL"})
"""The types that STRIDED_SLICE can copy in releases before LiteRT 2.1.3."""
_REVERSE_MAX_RANK = 8

_REVERSE_TYPES = frozenset({"INT32", "FLOAT32", "UINT8", "INT8", "INT16", "INT64", "BOOL"})
_REVERSE_SEQUENCE_TYPES = frozenset({"INT32", "FLOAT32", "UINT8", "INT16", "INT64"})


@kernel("SLICE", changed_in=("litert-2.2.0", "litert-2.3.0"))
def prepare_slice(node: KernelNode) -> None:
    """``kernels/slice.cc: Prepare``."""
    source, begin, size, result = node.operands(3)
    node.ensure(source.type == result.type, "input and output have different types")
    node.ensure_type(begin, ("INT32", "INT64"))
    node.ensure_type(size, ("INT32", "INT64"))
    node.ensure(begin.rank == 1 and size.rank == 1, "begin and size are not vectors")
    node.ensure(begin.element_count == size.element_count, "begin and size have different lengths")
    if not node.since("litert-2.2.0"):
        node.ensure(source.rank <= _SLICE_FORMER_MAX_RANK, "the input has more than 5 dimensions")
    is_complete = result.rank > 0 and not has_unspecified_dimension(result)
    if is_complete and not (node.since("litert-2.3.0") and source.rank):
        return
    unknown = first_unknown(begin, size)
    is_static = unknown is None and not has_unspecified_dimension(source)
    shape = _slice_shape(node, source, begin, size) if is_static else None
    if is_complete:
        # A complete shape in the file stays. If the operands are known, it must equal the computed shape.
        node.ensure(shape is None or shape == result.shape, "the output does not have the shape of the slice")
    elif shape is None:
        node.set_dynamic(result, unknown)
    else:
        node.resize(result, shape)


def _slice_shape(node: KernelNode, source: KernelTensor, begin: KernelTensor, size: KernelTensor) -> tuple[int, ...]:
    """Return the shape of the slice (``kernels/slice.cc: CalculateOutputShapeVector``).

    The kernel reads the data of ``size`` with the type of ``begin``.
    """
    checks_more = node.since("litert-2.3.0")
    if checks_more:
        node.ensure(begin.element_count == source.rank, "begin and size do not have one number for each dimension")
    begins = begin.integers()
    sizes = as_list(read_as(size.value(), kind_of(begin.value())))
    shape = []
    for axis, dimension in enumerate(source.shape):
        first, wanted = begins[axis], sizes[axis]
        node.ensure(wanted >= -1, "a size is negative")
        if checks_more:
            node.ensure(0 <= first <= dimension, "the slice begins outside the input")
        node.ensure(wanted == -1 or first + wanted <= dimension, "the slice reaches past the input")
        shape.append(dimension - first if wanted == -1 else wanted)
    return tuple(shape)


@dataclass(frozen=True, slots=True)
class _Axis:
    size: int
    start: int = 0
    stop: int = 0
    stride: int = 1
    begin_masked: bool = True
    end_masked: bool = True
    shrunk: bool = False

    def first(self) -> int:
        """Return the first position (``kernels/internal/reference/strided_slice.h: StartForAxis``)."""
        if self.begin_masked:
            return 0 if self.stride > 0 else self.size - 1
        return self._clamped(self.start)

    def last(self, first: int, is_offset: bool) -> int:
        """Return the position after the last element (``kernels/internal/reference/strided_slice.h: EndForAxis``)."""
        if self.shrunk:
            return first if first >= self.size else first + 1
        if self.end_masked:
            return self.size if self.stride > 0 else -1
        return self._clamped(self.stop + first if is_offset else self.stop)

    def _clamped(self, position: int) -> int:
        position = position + self.size if position < 0 else position
        low, high = (0, self.size) if self.stride > 0 else (-1, self.size - 1)
        return min(max(position, low), high)


@kernel("STRIDED_SLICE", changed_in=("litert-1.3.0", "litert-2.1.3", "litert-2.1.4", "litert-2.2.0"))
def prepare_strided_slice(node: KernelNode) -> None:
    """``kernels/strided_slice.cc: Prepare``."""
    node.ensure_counts(4, 1)
    source, begin, end, strides = node.input(0), node.input(1), node.input(2), node.input(3)
    result = node.output()
    node.ensure(begin.rank == end.rank == strides.rank == 1, "begin, end and strides are not vectors")
    node.ensure(begin.element_count == end.element_count, "begin and end have different lengths")
    node.ensure(source.type == result.type, "input and output have different types")
    for indices in (begin, end, strides):
        node.ensure_type(indices, "INT32")
    if node.since("litert-2.2.0"):
        node.ensure(begin.element_count <= _STRIDED_SLICE_MAX_INDICES, "there are more than 31 indices")
    else:
        node.ensure(source.rank <= _STRIDED_SLICE_FORMER_MAX_RANK, "the input has more than 5 dimensions")
    is_offset = bool(node.options.offset)
    unknown = first_unknown(strides) if is_offset else first_unknown(strides, begin, end)
    if unknown is not None:
        node.set_dynamic(result, unknown)
        return
    is_known = first_unknown(source, begin, end) is None
    if not is_known:
        node.resize(result, _strided_slice_shape(node, _strided_slice_axes(node, has_begin=not is_offset), is_offset))
    elif result.type == "STRING":
        # The kernel writes strings during Prepare, which makes the result dynamic.
        node.set_dynamic(result)
        node.resize(result, _strided_slice_shape(node, _strided_slice_axes(node), is_offset))
    else:
        axes = _strided_slice_axes(node)
        shape = _strided_slice_shape(node, axes, is_offset)
        if node.since("litert-2.1.3"):
            is_copied = schema.BITS_PER_ELEMENT.get(result.type) in _STRIDED_SLICE_WIDTHS
            node.ensure(is_copied, "elements of this type cannot be sliced")
        else:
            node.ensure_type(result, _STRIDED_SLICE_FORMER_TYPES, HALF_TYPES_LATER)
        node.set_persistent(result, shape, _strided_slice(node, source, axes, shape, is_offset))


def _strided_slice_axes(node: KernelNode, has_begin: bool = True) -> list[_Axis]:
    source, begin, end, strides = node.input(0), node.input(1), node.input(2), node.input(3)
    options = node.options
    begin_mask, end_mask, shrink_axis_mask = options.begin_mask, options.end_mask, options.shrink_axis_mask
    count = begin.shape[0]
    added = (options.new_axis_mask & ~options.ellipsis_mask & (1 << count) - 1).bit_count()
    expansion = _expand_masks(options.ellipsis_mask, options.new_axis_mask, count, source.rank + added)
    zeros = [0] * count  # bounded: at most 31 indices
    begins = begin.integers() if has_begin else zeros
    ends = end.integers() if has_begin else zeros
    steps = strides.integers()
    skipped = new = 0
    axes = []
    for axis, (in_ellipsis, is_new) in enumerate(zip(expansion.in_ellipsis, expansion.is_new, strict=True)):
        if is_new:
            new += 1
            axes.append(_Axis(1, 0, 1, 1, begin_masked=False, end_masked=False))
            continue
        size = source.shape[axis - new]
        if in_ellipsis:
            skipped = max(0, axis - expansion.ellipsis_start)
        if in_ellipsis or axis >= count + expansion.added:
            axes.append(_Axis(size))
            continue
        index = axis - skipped
        masked = _bit(begin_mask, index), _bit(end_mask, index), _bit(shrink_axis_mask, index)
        axes.append(_Axis(size, begins[index], ends[index], steps[index], *masked))
    return axes


@dataclass(frozen=True, slots=True)
class _Expansion:
    """The masks for the ellipsis and for new axes, with one value for each dimension.

    ``ellipsis_start`` is the first dimension of the ellipsis. ``added`` is the number of dimensions that the ellipsis covers,
    minus one.
    """

    in_ellipsis: list[bool]
    is_new: list[bool]
    ellipsis_start: int
    added: int


def _expand_masks(ellipsis_mask: int, new_axis_mask: int, count: int, rank: int) -> _Expansion:
    """Return the masks by dimension. The ellipsis covers all dimensions without an index.

    Upstream: ``kernels/strided_slice.cc: BuildStridedSliceParams``.
    """
    in_ellipsis, is_new = [False] * rank, [False] * rank
    start, added = rank, 0
    axis = 0
    while axis < rank:
        if _bit(ellipsis_mask, axis):
            start, end = axis, max(axis + 1, min(axis + 1 + rank - count, rank))
            added = end - start - 1
            in_ellipsis[start:end] = [True for _ in in_ellipsis[start:end]]
            axis = end
        else:
            is_new[axis] = _bit(new_axis_mask, axis - added)
            axis += 1
    return _Expansion(in_ellipsis, is_new, start, added)


def _bit(mask: int, index: int) -> bool:
    return bool(mask >> index & 1)


def _strided_slice_shape(node: KernelNode, axes: Sequence[_Axis], is_offset: bool) -> list[int]:
    """Return the shape of the result (``kernels/strided_slice.cc: ResizeOutputTensor``).

    If the option ``offset`` is set, the operand ``end`` contains sizes instead of positions. The kernel reads one size for
    each dimension, including added dimensions, and may read past the end of the operand. This function uses 0 for a size past
    the end.
    """
    checks_result = node.since("litert-2.2.0")
    if not checks_result:
        node.ensure(len(axes) <= _STRIDED_SLICE_FORMER_MAX_RANK, "input and added dimensions are more than 5 together")
    sizes = node.input(2).integers() if is_offset else []
    shape = []
    for index, axis in enumerate(axes):
        node.ensure(axis.stride != 0, "a stride is 0")
        if axis.shrunk:
            continue
        if is_offset:
            distance = sizes[index] if index < len(sizes) else 0
        else:
            first = axis.first()
            distance = axis.last(first, is_offset) - first
        node.ensure(axis.stride != _SMALLEST_INT32 or not checks_result, "a stride is too small")
        size = _step_count(node, distance, axis.stride)
        node.ensure(size <= INT32_MAX, "a size of the result overflows")
        shape.append(size)
    return shape


def _step_count(node: KernelNode, distance: int, stride: int) -> int:
    """Return the number of steps along a dimension. Releases before LiteRT 2.1.4 round the quotient to float32."""
    if node.since("litert-2.1.4"):
        return len(range(0, distance, stride))
    return max(0, math.ceil(quotient(float32(distance), float32(stride))))


def _strided_slice(
    node: KernelNode, source: KernelTensor, axes: Sequence[_Axis], shape: Sequence[int], is_offset: bool
) -> StoredNumbers | None:
    """Return the elements of the result.

    Return None if the elements are not known, or if the slice has fewer elements than the result.
    """
    elements = known_elements(source)
    count = element_count(shape)
    if elements is None or not node.elements.take(count):
        return None
    if 0 <= element_count([axis.size for axis in axes]) != len(elements):
        raise ValueError("the input does not have an axis of the slice")
    # bounded: no longer than the input
    taken = [range(axis.size)[_python_slice(axis, is_offset)] for axis in axes]
    if element_count([len(indices) for indices in taken]) < count:
        return None
    positions = positions_in([(axis.size, indices) for axis, indices in zip(axes, taken, strict=True)]) if count else ()
    return picked(elements, itertools.islice(positions, count))


def _python_slice(axis: _Axis, is_offset: bool) -> slice:
    first = axis.first()
    last = axis.last(first, is_offset)
    if not range(first, last, axis.stride):
        return slice(0, 0)
    return slice(first, last if last >= 0 else None, axis.stride)


@kernel("DYNAMIC_UPDATE_SLICE")
def prepare_dynamic_update_slice(node: KernelNode) -> None:
    """``kernels/dynamic_update_slice.cc: Prepare``."""
    source, update, start, result = node.input(0), node.input(1), node.input(2), node.output()
    node.ensure(start.shape == (source.rank,), "the start indices do not have one element for each dimension")
    node.ensure(update.rank == source.rank, "update and input have different numbers of dimensions")
    node.ensure(
        all(part <= whole for part, whole in zip(update.shape, source.shape, strict=True)), "the update is larger than the input"
    )
    node.ensure_counts(3, 1)
    node.ensure(source.type == update.type, "input and update have different types")
    node.ensure_type(start, ("INT32", "INT64"))
    node.make_like(result, source)


@kernel("REVERSE_V2", changed_in=HALF_TYPES_LATER)
def prepare_reverse_v2(node: KernelNode) -> None:
    """``kernels/reverse.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, axes = node.input(0), node.input(1)
    node.ensure(axes.rank == 1, "the axes are not a vector")
    node.ensure(source.rank <= _REVERSE_MAX_RANK, "the input has more than 8 dimensions")
    node.ensure(source.rank >= axes.element_count, "there are more axes than dimensions")
    node.ensure_type(source, _REVERSE_TYPES, HALF_TYPES_LATER)
    node.ensure_type(axes, "INT32")
    result = node.output()
    node.ensure(result.type == source.type, "input and output have different types")
    node.resize(result, source.shape)


@kernel("REVERSE_SEQUENCE")
def prepare_reverse_sequence(node: KernelNode) -> None:
    """``kernels/reverse_sequence.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, lengths = node.input(0), node.input(1)
    node.ensure(lengths.rank == 1, "the lengths are not a vector")
    node.ensure_type(source, _REVERSE_SEQUENCE_TYPES)
    node.ensure_type(lengths, ("INT32", "INT64"))
    result = node.output()
    node.ensure(result.type == source.type, "input and output have different types")
    node.resize(result, source.shape)
