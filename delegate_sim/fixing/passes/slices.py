"""Rewrite STRIDED_SLICE as a STRIDED_SLICE with fewer options, or as SLICE. Rewrite GATHER_ND as SLICE."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model.model import Node
from ..pass_workspace import Work
from .base import Exactness, Pass, node_pass
from .joined_axes import CutAxis

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
    """Return a SLICE and a RESHAPE for a GATHER_ND whose indices are all positions of a box, in order."""
    source, indices, target = work.input(node, 0), work.input(node, 1), work.output(node)
    if work.is_open(source, target) or source.is_per_channel or not 0 < indices.element_count <= _MOST_INDICES:
        return None
    values = work.integers(indices)
    depth = indices.shape[-1] if indices.shape else 0
    if values is None or not 0 < depth <= source.rank:
        return None
    vectors = values.reshape(-1, depth)
    starts, sizes = vectors[0], vectors[-1] - vectors[0] + 1
    if (sizes < 1).any() or np.prod(sizes) != len(vectors) or (starts < 0).any() or (starts + sizes > source.shape[:depth]).any():
        return None
    if not np.array_equal(np.indices(sizes).reshape(depth, -1).T + starts, vectors):
        return None
    cut = [*map(int, sizes), *source.shape[depth:]]
    if element_count(cut) != target.element_count:
        return None
    if tuple(cut) == source.shape:
        return [work.reshape(source.index, target.index)]
    result = work.result(target, "of_whole_rank", cut)
    begin = work.constant(f"{target.name}/begin", "INT32", [*map(int, starts), *[0] * (source.rank - depth)])
    size = work.constant(f"{target.name}/size", "INT32", cut)
    return [work.node("SLICE", [source.index, begin, size], [result]), work.reshape(result, target.index)]


_NEEDS = "constant begin and end, strides of 1, and a known shape"

PASSES: tuple[Pass, ...] = (
    node_pass(
        "strided-slice-without-masks",
        "STRIDED_SLICE",
        "replaces the masks by explicit begin and end, and adds a RESHAPE if the node removes dimensions",
        _NEEDS,
        Exactness.EXACT,
        functools.partial(_rewrite, strided=True),
    ),
    node_pass(
        "strided-slice-as-slice",
        "STRIDED_SLICE",
        "replaces STRIDED_SLICE by a SLICE, and by a RESHAPE if the node removes dimensions",
        _NEEDS,
        Exactness.EXACT,
        functools.partial(_rewrite, strided=False),
    ),
    node_pass(
        "gather-nd-as-slice",
        "GATHER_ND",
        "replaces GATHER_ND by a SLICE and a RESHAPE, or by a RESHAPE alone if it takes everything",
        "constant indices that are all positions of a box in order, and a known shape",
        Exactness.EXACT,
        _gather_box,
    ),
)
