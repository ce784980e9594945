"""Prepare of operators that pick, scatter or add up slices by index: GATHER, SCATTER_ND, SEGMENT_SUM and their like."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ..model.numbers import FlatNumbers, StoredNumbers, bounds, picked
from .kernel import KernelNode, KernelTensor, kernel
from .operands import first_unknown, known_elements, wrapped

_GATHER_TYPES = frozenset(
    {"FLOAT32", "FLOAT16", "BFLOAT16", "UINT8", "INT4", "INT8", "INT16", "INT64", "INT32", "BOOL", "STRING"}
)
_GATHER_ND_TYPES = frozenset({"BFLOAT16", "FLOAT16", "FLOAT32", "UINT8", "INT8", "INT16", "INT64", "INT32", "STRING", "BOOL"})
_INDEX_TYPES = frozenset({"INT64", "INT32", "INT16"})
_SCATTER_ND_TYPES = frozenset({"FLOAT32", "UINT8", "BOOL", "INT8", "INT64", "INT32"})


@kernel("GATHER")
def prepare_gather(node: KernelNode) -> None:
    """``kernels/gather.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, positions, result = node.input(0), node.input(1), node.output()
    node.ensure_type(positions, _INDEX_TYPES)
    result.type = source.type
    node.ensure_type(source, _GATHER_TYPES)
    node.ensure(source.type != "STRING" or source.rank == 1, "the strings are not a vector")
    axis = wrapped(node.options.axis, source.rank)
    node.ensure(0 <= axis < source.rank, "the axis is out of range")
    batch_dims = wrapped(node.options.batch_dims, positions.rank)
    node.ensure(0 <= batch_dims <= min(axis, positions.rank), "the number of batch dimensions is out of range")
    node.ensure(source.shape[:batch_dims] == positions.shape[:batch_dims], "the batch dimensions differ")
    shape = (*source.shape[:axis], *positions.shape[batch_dims:], *source.shape[axis + 1 :])
    if first_unknown(source, positions) is not None:
        node.resize(result, shape)
        return
    indices = known_elements(positions)
    if indices is not None and len(indices):
        is_unbounded = source.type == "STRING" or 0 in source.shape[:axis]
        least, greatest = bounds(indices)
        node.ensure(least >= 0, "a position is negative")
        node.ensure(is_unbounded or greatest < source.shape[axis], "a position is out of range")
    if source.type == "STRING":
        # The strings are written immediately, which puts them on the heap.
        node.set_dynamic(result)
        node.resize(result, shape)
    else:
        node.set_persistent(result, shape, _gathered(node, source, indices, axis, batch_dims, shape))


def _gathered(
    node: KernelNode, source: KernelTensor, indices: FlatNumbers | None, axis: int, batch_dims: int, shape: Sequence[int]
) -> StoredNumbers | None:
    elements = known_elements(source)
    if elements is None or indices is None or not node.elements.take(math.prod(shape)):
        return None
    if min(shape, default=1) <= 0:
        return picked(elements, ())
    batches, size = math.prod(source.shape[:batch_dims]), source.shape[axis]
    outer, inner = math.prod(source.shape[batch_dims:axis]), math.prod(source.shape[axis + 1 :])
    count, listed = len(indices) // max(batches, 1), indices.tolist()
    rows = [
        (batch * outer + place) * size + index
        for batch in range(batches)
        for place in range(outer)
        for index in listed[count * batch : count * (batch + 1)]
    ]
    return picked(elements, [row * inner + place for row in rows for place in range(inner)])


@kernel("GATHER_ND")
def prepare_gather_nd(node: KernelNode) -> None:
    """``kernels/gather_nd.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, indices, result = node.input(0), node.input(1), node.output()
    node.ensure_type(source, _GATHER_ND_TYPES)
    node.ensure_type(indices, _INDEX_TYPES)
    node.ensure(source.rank >= 1, "the input is a scalar")
    node.ensure(indices.rank >= 1, "the indices are a scalar")
    depth = indices.shape[-1]
    node.ensure(0 <= depth <= source.rank, "the indices have more numbers than the input has dimensions")
    result.type = source.type
    node.resize(result, (*indices.shape[:-1], *source.shape[depth:]))


@kernel("SCATTER_ND")
def prepare_scatter_nd(node: KernelNode) -> None:
    """``kernels/scatter_nd.cc: Prepare``."""
    node.ensure_counts(3, 1)
    indices, updates, shape = node.input(0), node.input(1), node.input(2)
    node.ensure_type(updates, _SCATTER_ND_TYPES)
    node.ensure(indices.type == shape.type, "indices and shape have different types")
    result = node.output()
    result.type = updates.type
    if not shape.is_constant_or_persistent:
        node.set_dynamic(result, shape)
        return
    node.ensure_type(indices, "INT32")
    node.ensure(indices.rank >= 1 and updates.rank >= 1 and shape.rank == 1, "an operand has the wrong number of dimensions")
    sizes = shape.integers()[: shape.shape[0]]
    _check_scatter_shapes(node, indices.shape, updates.shape, sizes)
    node.resize(result, sizes)


def _check_scatter_shapes(node: KernelNode, indices: Sequence[int], updates: Sequence[int], shape: Sequence[int]) -> None:
    """``kernels/scatter_nd.cc: CheckShapes``: an update for each index, with the sizes that the index leaves open."""
    outer, depth = len(indices) - 1, indices[-1]
    node.ensure(updates[:outer] == indices[:outer], "there is not one update for each index")
    node.ensure(len(updates) - outer == len(shape) - depth, "the updates have the wrong number of dimensions")
    node.ensure(list(updates[outer:]) == list(shape[depth:]), "the updates do not fit the shape")


@kernel("SEGMENT_SUM")
def prepare_segment_sum(node: KernelNode) -> None:
    """``kernels/segment_sum.cc: Prepare``."""
    node.ensure_counts(2, 1)
    data, segment_ids, result = node.input(0), node.input(1), node.output()
    node.ensure_type(data, ("INT32", "FLOAT32"))
    node.ensure_type(segment_ids, "INT32")
    unknown = first_unknown(data, segment_ids)
    if unknown is not None:
        node.set_dynamic(result, unknown)
        return
    node.ensure(data.rank >= 1, "the data is a scalar")
    node.ensure(segment_ids.rank == 1, "the segment ids are not a vector")
    node.ensure(segment_ids.shape[0] == data.shape[0], "there is not one segment id for each row")
    ids: list[int] = segment_ids.value()[: segment_ids.shape[0]].tolist()
    is_ordered = not ids or (ids[0] == 0 and all(after - before in (0, 1) for before, after in itertools.pairwise(ids)))
    node.ensure(is_ordered, "the segment ids do not rise from 0 by steps of 0 or 1")
    node.resize(result, (ids[-1] + 1 if ids else 0, *data.shape[1:]))


@kernel("UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_SUM")
def prepare_unsorted_segment(node: KernelNode) -> None:
    """``kernels/unsorted_segment.cc: Prepare``."""
    node.ensure_counts(3, 1)
    data, segment_ids, num_segments, result = node.input(0), node.input(1), node.input(2), node.output()
    node.ensure_type(data, ("INT32", "FLOAT32"))
    node.ensure_type(segment_ids, "INT32")
    node.ensure_type(num_segments, "INT32")
    unknown = first_unknown(segment_ids, num_segments)
    if data.is_dynamic or unknown is not None:
        node.set_dynamic(result, unknown)
        return
    node.ensure(data.shape[: segment_ids.rank] == segment_ids.shape, "the segment ids do not have the leading sizes of the data")
    node.ensure(num_segments.shape in ((), (1,)), "the number of segments is not a single number")
    count = num_segments.integers()[0]
    node.ensure(count >= 0, "the number of segments is negative")
    ids: list[int] = segment_ids.value()[: segment_ids.element_count].tolist()
    node.ensure(not ids or max(ids) < count, "a segment id is out of range")
    node.resize(result, (count, *data.shape[segment_ids.rank :]))
