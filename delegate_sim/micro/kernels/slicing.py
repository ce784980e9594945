"""Operators that read, write or reverse ranges of a tensor."""

from __future__ import annotations

import math

from ...graph.graph import Graph, NodeView
from ...rules.kinds import CONSTANT, OPERAND_VALUE, SHAPE
from ...rules.operands import INPUT, OUTPUT, at_most, operand
from ...rules.vocabulary import check, operand_count, rank, same_type, typed
from .. import checks
from ..target import TENSOR_TYPE, MicroKernel, in_source

_BEGIN, _END, _STRIDES = operand(1, "begin"), operand(2, "end"), operand(3, "strides")
_AXIS = operand(1, "axis")
_UPDATE, _START = operand(1, "update"), operand(2, "start_indices")
_INDEX_TYPES = ("INT32", "INT64")
_WITH_BOOL = (*checks.FLOAT32_INT8_INT16_INT32, "BOOL")
_UNROLL = "give the slice a constant size; if it is in the loop of a recurrent layer, convert the layer unrolled or fused"
_MOST_DIMENSIONS = 6
"""The most dimensions of a ``RuntimeShape``."""


def _start_count(node: NodeView) -> str | None:
    count, dims = node.input(2).size(0), node.input(0).rank
    return None if count == dims else f"start_indices with {count} elements and input of rank {dims}"


def _update_size(node: NodeView) -> str | None:
    source, update = node.input(0).shape, node.input(1).shape
    if len(source) == len(update) and all(part <= whole for part, whole in zip(update, source, strict=True)):
        return None
    return f"update of shape {list(update)} in input of shape {list(source)}"


def _many_axes(node: NodeView) -> str | None:
    count, dims = node.input(1).element_count, node.input(0).rank
    return None if dims >= count else f"{count} axes and input of rank {dims}"


def _scattered_axes(node: NodeView) -> str | None:
    dims = node.input(0).rank
    axes = sorted([axis + dims if axis < 0 else axis for axis in checks.integers(node, node.input(1)) or ()])
    return f"axes {axes}" if any(after != before + 1 for before, after in zip(axes, axes[1:], strict=False)) else None


def _clamped(value: int, least: int, most: int) -> int:
    return most if value > most else max(value, least)


def _start_of(begin: int, stride: int, size: int, *, is_masked: bool) -> int:
    if size == 0:
        return 0
    if is_masked:
        begin = 0 if stride > 0 else size - 1
    elif begin < 0:
        begin += size
    return _clamped(begin, 0, size) if stride > 0 else _clamped(begin, -1, size - 1)


def _stop_of(end: int, stride: int, size: int, start: int, *, is_masked: bool, shrinks: bool) -> int:
    if size == 0:
        return 0
    if shrinks:
        return start + 1
    if is_masked:
        return size if stride > 0 else -1
    if end < 0:
        end += size
    return _clamped(end, 0, size) if stride > 0 else _clamped(end, -1, size - 1)


def _bounds(node: NodeView) -> list[tuple[int, int, int]] | None:
    rows = [checks.as_int32(node, node.input(position)) for position in (1, 2, 3)]
    if None in rows:
        return None
    begins, ends, strides = rows
    assert begins is not None
    assert ends is not None
    assert strides is not None
    return list(zip(begins, ends, strides, strict=False))


def _short_operand(node: NodeView) -> str | None:
    dims = node.input(0).rank
    for which in (_BEGIN, _END, _STRIDES):
        count = which.tensor(node).element_count
        if count < dims:
            return f"{which.name} with {count} elements and input of rank {dims}"
    return None


def _zero_stride(node: NodeView) -> str | None:
    return "strides with 0" if 0 in [stride for _, _, stride in _bounds(node) or ()][: node.input(0).rank] else None


def _sliced_shape(node: NodeView) -> str | None:
    bounds, options, source = _bounds(node), node.options, node.input(0).shape
    if bounds is None or len(bounds) < len(source):
        return None
    shape = []
    for axis, (size, (begin, end, stride)) in enumerate(zip(source, bounds, strict=False)):
        shrinks = bool(options.shrink_axis_mask >> axis & 1)
        start = _start_of(begin, stride, size, is_masked=bool(options.begin_mask >> axis & 1))
        stop = _stop_of(end, stride, size, start, is_masked=bool(options.end_mask >> axis & 1), shrinks=shrinks)
        if not shrinks:
            shape.append(max(0, math.ceil((stop - start) / stride)))
    result = node.output(0).shape
    return None if tuple(shape) == result else f"output of shape {list(result)} for a slice of shape {shape}"


_OF_SHAPE_ALONE = ("SHAPE", "RANK")


def _known_tensors(graph: Graph) -> frozenset[int]:
    """Return the tensors that follow from constants and shapes, so that the converter's sizes for them hold."""
    known = {tensor.index for tensor in graph.tensors if tensor.is_constant}
    for node in graph.nodes:
        if node.op in _OF_SHAPE_ALONE or known.issuperset(index for index in node.inputs if index >= 0):
            known.update(node.outputs)
    return frozenset(known)


def _computed_size(node: NodeView) -> str | None:
    if not node.output(0).has_unspecified_dimension:
        return None
    # The tensors are looked at once, because a file decides how many nodes have a computed size.
    known = node.graph.results.get("tensors that follow from shapes", (), lambda: _known_tensors(node.graph))
    if node.input(2).index in known:
        return None
    shape = list(node.output(0).shape)
    return f"size computed from values; the kernel writes that many elements to a result of shape {shape} without a message"


KERNELS = {
    "DYNAMIC_UPDATE_SLICE": MicroKernel(
        in_source(
            "dynamic_update_slice.cc: Prepare",
            checks.THREE_TO_ONE,
            same_type(INPUT, _UPDATE, kind=TENSOR_TYPE),
            typed(_START, _INDEX_TYPES),
            rank(_START, 1),
            check(SHAPE, "start_indices with one element for each dimension", _start_count),
            check(SHAPE, "an update of at most the size of input", _update_size),
        ),
        in_source("dynamic_update_slice.cc: Eval", typed(INPUT, checks.FLOAT32_INT8_INT16_INT32)),
    ),
    "REVERSE_V2": MicroKernel(
        in_source(
            "reverse.cc: ReverseV2Prepare",
            checks.TWO_TO_ONE,
            rank(_AXIS, 1),
            rank(INPUT, at_most(_MOST_DIMENSIONS)),
            check(SHAPE, "at most one axis for each dimension", _many_axes),
            typed(INPUT, ("INT32", "FLOAT32", "UINT8", "INT8", "INT16", "INT64", "BOOL")),
            typed(_AXIS, checks.INT32),
            checks.SAME_TYPES,
        ),
        in_source(
            "reverse.cc: ReverseV2Eval",
            checks.axis_in_range(_AXIS),
            check(OPERAND_VALUE, "consecutive axes", _scattered_axes, "reverse one axis after the other"),
        ),
    ),
    "SLICE": MicroKernel(
        in_source("slice.cc: SlicePrepare", checks.THREE_TO_ONE),
        in_source(
            "slice.cc: SliceEval",
            typed(_BEGIN, _INDEX_TYPES),
            typed(INPUT, _WITH_BOOL),
            check(CONSTANT, "a size that the model file determines", _computed_size, _UNROLL),
        ),
    ),
    "STRIDED_SLICE": MicroKernel(
        in_source(
            "strided_slice_common.cc: StridedSlicePrepare",
            operand_count(4, 1),
            rank(INPUT, at_most(4)),
            checks.constant(_BEGIN),
            checks.constant(_END),
            checks.constant(_STRIDES),
            check(SHAPE, "begin, end and strides with one element for each dimension of input", _short_operand),
            check(OPERAND_VALUE, "strides without zeros", _zero_stride),
            check(SHAPE, "an output with the shape of the slice", _sliced_shape),
        ),
        in_source("strided_slice.cc: StridedSliceEval", typed(OUTPUT, _WITH_BOOL)),
    ),
}
