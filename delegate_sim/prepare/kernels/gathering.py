"""Prepare functions of gathering, scattering, lookup, and search."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model import schema
from ...model.numbers import FlatNumbers, StoredNumbers, as_list, bounds, picked
from ..kernel import PERSISTENT_SINCE, KernelNode, kernel
from ..operands import HALF_TYPES_LATER, INT32_MAX
from ..tensors import KernelTensor, affine_quantization, first_unknown, has_unspecified_dimension, known_elements, wrapped

_GATHER_TYPES = frozenset({"FLOAT32", "UINT8", "INT4", "INT8", "INT16", "INT64", "INT32", "BOOL", "STRING"})
_GATHER_ND_TYPES = frozenset({"FLOAT32", "UINT8", "INT8", "INT16", "INT64", "INT32", "STRING", "BOOL"})
_INDEX_TYPES = frozenset({"INT64", "INT32", "INT16"})
_EMBEDDING_TYPES = ("UINT8", "INT8", "INT4")
_SCATTER_ND_TYPES = frozenset({"FLOAT32", "UINT8", "BOOL", "INT8", "INT64", "INT32"})


@kernel("GATHER", changed_in=(PERSISTENT_SINCE, *HALF_TYPES_LATER))
def prepare_gather(node: KernelNode) -> None:
    """``kernels/gather.cc: Prepare``."""
    source, positions, result = node.operands(2)
    node.ensure_type(positions, _INDEX_TYPES)
    result.type = source.type
    node.ensure_type(source, _GATHER_TYPES, HALF_TYPES_LATER)
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
        # The kernel writes strings during Prepare, which makes the result dynamic.
        node.set_dynamic(result)
        node.resize(result, shape)
    else:
        node.set_persistent(result, shape, _gathered(node, source, indices, axis, batch_dims, shape))


def _gathered(
    node: KernelNode, source: KernelTensor, indices: FlatNumbers | None, axis: int, batch_dims: int, shape: Sequence[int]
) -> StoredNumbers | None:
    elements = known_elements(source)
    if elements is None or indices is None or not node.elements.take(element_count(shape)):
        return None
    if min(shape, default=1) <= 0:
        return picked(elements, ())
    batches, size = element_count(source.shape[:batch_dims]), source.shape[axis]
    outer, inner = element_count(source.shape[batch_dims:axis]), element_count(source.shape[axis + 1 :])
    count, listed = len(indices) // max(batches, 1), as_list(indices)
    rows = [
        (batch * outer + place) * size + index
        # bounded: the result has an element for each row, and its elements are counted above
        for batch, place in itertools.product(range(batches), range(outer))
        for index in listed[count * batch : count * (batch + 1)]
    ]
    # bounded: the elements of the result are counted above
    return picked(elements, [row * inner + place for row in rows for place in range(inner)])


@kernel("GATHER_ND", changed_in=HALF_TYPES_LATER)
def prepare_gather_nd(node: KernelNode) -> None:
    """``kernels/gather_nd.cc: Prepare``."""
    source, indices, result = node.operands(2)
    node.ensure_type(source, _GATHER_ND_TYPES, HALF_TYPES_LATER)
    node.ensure_type(indices, _INDEX_TYPES)
    node.ensure(source.rank >= 1, "the input is a scalar")
    node.ensure(indices.rank >= 1, "the operand with the indices is a scalar")
    depth = indices.shape[-1]
    node.ensure(0 <= depth <= source.rank, "each index has more numbers than the input has dimensions")
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
    if node.made_dynamic(result, shape):
        return
    node.ensure_type(indices, "INT32")
    node.ensure(indices.rank >= 1 and updates.rank >= 1 and shape.rank == 1, "an operand has the wrong number of dimensions")
    sizes = shape.integers()[: shape.shape[0]]
    _check_scatter_shapes(node, indices.shape, updates.shape, sizes)
    node.resize(result, sizes)


def _check_scatter_shapes(node: KernelNode, indices: Sequence[int], updates: Sequence[int], shape: Sequence[int]) -> None:
    outer, depth = len(indices) - 1, indices[-1]
    node.ensure(updates[:outer] == indices[:outer], "the number of updates differs from the number of indices")
    node.ensure(len(updates) - outer == len(shape) - depth, "the updates have the wrong number of dimensions")
    node.ensure(list(updates[outer:]) == list(shape[depth:]), "the updates do not match the shape")


@kernel("SEGMENT_SUM", changed_in=("litert-2.2.0",))
def prepare_segment_sum(node: KernelNode) -> None:
    """``kernels/segment_sum.cc: Prepare``."""
    data, segment_ids, result = node.operands(2)
    node.ensure_type(data, ("INT32", "FLOAT32"))
    node.ensure_type(segment_ids, "INT32")
    if node.made_dynamic(result, data, segment_ids):
        return
    if node.since("litert-2.2.0"):
        node.ensure(data.rank >= 1, "the operand with the data is a scalar")
        node.ensure(segment_ids.rank == 1, "the segment ids are not a vector")
    node.ensure(segment_ids.shape[0] == data.shape[0], "the number of segment ids differs from the number of rows")
    ids: list[int] = as_list(segment_ids.value()[: segment_ids.shape[0]])
    is_ordered = not ids or (ids[0] == 0 and all(after - before in (0, 1) for before, after in itertools.pairwise(ids)))
    node.ensure(is_ordered, "the segment ids do not start at 0 and rise in steps of 0 or 1")
    node.resize(result, (ids[-1] + 1 if ids else 0, *data.shape[1:]))


@kernel("UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_SUM")
def prepare_unsorted_segment(node: KernelNode) -> None:
    """``kernels/unsorted_segment.cc: Prepare``."""
    data, segment_ids, num_segments, result = node.operands(3)
    node.ensure_type(data, ("INT32", "FLOAT32"))
    node.ensure_type(segment_ids, "INT32")
    node.ensure_type(num_segments, "INT32")
    unknown = first_unknown(segment_ids, num_segments)
    if data.is_dynamic or unknown is not None:
        node.set_dynamic(result, unknown)
        return
    node.ensure(
        data.shape[: segment_ids.rank] == segment_ids.shape,
        "the shape of the data does not begin with the shape of the segment ids",
    )
    node.ensure(num_segments.shape in ((), (1,)), "the number of segments is not a single number")
    count = num_segments.integers()[0]
    node.ensure(count >= 0, "the number of segments is negative")
    ids: list[int] = as_list(segment_ids.value()[: segment_ids.element_count])
    node.ensure(not ids or max(ids) < count, "a segment id is out of range")
    node.resize(result, (count, *data.shape[segment_ids.rank :]))


_COUNT_TYPES = ("INT32", "INT16")
_WHERE_TYPES = frozenset({"BOOL", "FLOAT32", "INT64", "INT32", "INT8", "UINT8", "UINT32"})


@kernel("TOPK_V2", changed_in=("litert-2.1.3", "litert-2.2.0"))
def prepare_topk_v2(node: KernelNode) -> None:
    """``kernels/topk_v2.cc: Prepare``."""
    node.ensure_counts(2, 2)
    source, k, values = node.input(0), node.input(1), node.output(0)
    node.ensure(source.type == values.type, "input and output have different types")
    if node.since("litert-2.2.0"):
        node.ensure_type(k, _COUNT_TYPES)
    indices = node.output(1)
    is_known = k.is_constant_or_persistent
    if not is_known or has_unspecified_dimension(source):
        cause = None if is_known else k
        node.set_dynamic(indices, cause)
        node.set_dynamic(values, cause)
        return
    node.ensure_type(k, _COUNT_TYPES)
    node.ensure(k.element_count == 1, "k is not a single number")
    count = k.integers()[0]
    node.ensure(source.rank >= 1, "the input is a scalar")
    node.ensure(source.element_count <= INT32_MAX, "the number of elements overflows")
    node.ensure(count <= source.shape[-1], "k is larger than the last dimension")
    shape = (*source.shape[:-1], max(count, 0) if node.since("litert-2.1.3") else count)
    node.resize(indices, shape)
    node.resize(values, shape)


@kernel("WHERE")
def prepare_where(node: KernelNode) -> None:
    """``kernels/where.cc: Prepare``."""
    condition, result = node.operands(1)
    node.ensure_type(condition, _WHERE_TYPES)
    result.type = "INT64"
    if node.made_dynamic(result, condition):
        return
    count = int(np.count_nonzero(condition.value()[: condition.element_count]))
    node.resize(result, (count, condition.rank))


@kernel("UNIQUE", changed_in=("litert-2.1.6",))
def prepare_unique(node: KernelNode) -> None:
    """``kernels/unique.cc: Prepare``."""
    source, values, indices = node.operands(1, 2)
    if node.since("litert-2.1.6"):
        node.ensure(node.options.table is not None, "there are no options")
        index_type = "INT64" if schema.tensor_type_name(node.options.idx_out_type) == "INT64" else "INT32"
        node.ensure(values.type == source.type, "input and output have different types")
        node.ensure_type(indices, index_type)
    node.ensure(source.rank == 1, "the input is not a vector")
    node.set_dynamic(values)
    node.resize(indices, source.shape)


@kernel("EMBEDDING_LOOKUP", changed_in=("litert-1.4.0", "litert-2.1.2"))
def prepare_embedding_lookup(node: KernelNode) -> None:
    """``kernels/embedding_lookup.cc: Prepare``."""
    lookup, table, result = node.operands(2)
    node.ensure_rank(lookup, 1)
    node.ensure_type(lookup, "INT32")
    node.ensure(table.rank >= 2, "the table has fewer than 2 dimensions")
    _check_embedding_quantization(node, table, result)
    node.resize(result, (lookup.shape[0], *table.shape[1:]))


def _check_embedding_quantization(node: KernelNode, table: KernelTensor, result: KernelTensor) -> None:
    quantization = affine_quantization(table)
    if quantization is None:
        return
    is_int2 = table.type == "INT2" and node.since("litert-2.1.2")
    if (table.type in _EMBEDDING_TYPES or is_int2) and result.type == "FLOAT32":
        node.ensure(quantization.zero_point == 0, "a zero point of the table is not 0")
    takes_one_zero_point = node.since("litert-1.4.0")
    if quantization.is_per_channel or (len(quantization.zero_points) > 1 and not takes_one_zero_point):
        node.ensure_type(table, _EMBEDDING_TYPES, {"litert-2.1.2": ("INT2",)})
        node.ensure_type(result, "FLOAT32", {"litert-2.1.2": ("FLOAT16",)})
        node.ensure(quantization.dimension == 0, "the scales are not along the rows of the table")
        rows = table.shape[0]
        node.ensure(len(quantization.scales) == rows, "the table does not have one scale for each row")
        zero_point_counts = (1, rows) if takes_one_zero_point else (rows,)
        node.ensure(len(quantization.zero_points) in zero_point_counts, "the table does not have one zero point for each row")


@kernel("EMBEDDING_LOOKUP_SPARSE")
def prepare_embedding_lookup_sparse(node: KernelNode) -> None:
    """``kernels/embedding_lookup_sparse.cc: Prepare``."""
    node.ensure_counts(5, 1)
    operands = [node.input(position) for position in range(5)]
    ids, indices, shape, weights, table = operands
    for tensor, rank, kind in ((ids, 1, "INT32"), (indices, 2, "INT32"), (shape, 1, "INT32"), (weights, 1, "FLOAT32")):
        node.ensure_rank(tensor, rank)
        node.ensure_type(tensor, kind)
    node.ensure(indices.shape[0] == ids.shape[0] == weights.shape[0], "the numbers of ids, indices and weights differ")
    node.ensure(table.rank >= 2, "the table has fewer than 2 dimensions")
    result = node.output()
    node.ensure_type(result, "FLOAT32")
    node.set_dynamic(result)


@kernel("HASHTABLE_LOOKUP")
def prepare_hashtable_lookup(node: KernelNode) -> None:
    """``kernels/hashtable_lookup.cc: Prepare``."""
    node.ensure_counts(3, 2)
    lookup, keys, values = node.input(0), node.input(1), node.input(2)
    for tensor in (lookup, keys):
        node.ensure_rank(tensor, 1)
        node.ensure_type(tensor, "INT32")
    node.ensure(values.rank >= 1, "the operand with the values is a scalar")
    node.ensure(keys.shape[0] == values.shape[0], "the numbers of keys and values differ")
    node.ensure(values.type != "STRING" or values.rank == 1, "string values are not a vector")
    result, hits = node.output(0), node.output(1)
    node.ensure_type(hits, "UINT8")
    node.ensure(values.type == result.type, "values and output have different types")
    if result.type != "STRING":
        node.resize(result, (lookup.shape[0], *values.shape[1:]))
    node.resize(hits, lookup.shape)


@kernel("LSH_PROJECTION")
def prepare_lsh_projection(node: KernelNode) -> None:
    """``kernels/lsh_projection.cc: Resize``."""
    node.ensure_counts((2, 3), 1)
    functions, source, result = node.input(0), node.input(1), node.output()
    node.ensure_rank(functions, 2)
    node.ensure(functions.shape[1] <= 32, "a hash has more than 32 bits")
    node.ensure(source.rank >= 1 and source.shape[0] >= 1, "the input is empty")
    if node.input_count == 3:
        node.ensure(node.input(2).shape == source.shape[:1], "the weights do not have one element for each item of the input")
    kind = schema.enum_names("LSHProjectionType").get(node.options.type)
    if kind == "SPARSE":
        node.resize(result, functions.shape[:1])
    elif kind == "DENSE":
        node.resize(result, (functions.element_count,))
    else:
        node.fail("the type of the projection is unknown")


@kernel("SKIP_GRAM")
def prepare_skip_gram(node: KernelNode) -> None:
    """``kernels/skip_gram.cc: Prepare``."""
    node.ensure_counts(1, 1)
    node.ensure_type(node.input(0), "STRING")
    node.ensure_type(node.output(), "STRING")


@kernel("SPARSE_TO_DENSE", changed_in=("litert-2.1.6",))
def prepare_sparse_to_dense(node: KernelNode) -> None:
    """``kernels/sparse_to_dense.cc: Prepare``."""
    node.ensure_counts(4, 1)
    indices, output_shape, values, default = (node.input(position) for position in range(4))
    node.ensure(indices.rank < 3, "the indices have more than 2 dimensions")
    node.ensure_rank(output_shape, 1)
    node.ensure(values.rank < 2, "the values have more than 1 dimension")
    node.ensure(default.element_count == 1, "the default is not a single value")
    node.ensure_type(indices, ("INT32", "INT64"))
    node.ensure_type(output_shape, ("INT32", "INT64"))
    node.ensure_type(values, ("INT32", "INT64", "INT8", "UINT8", "FLOAT32"))
    node.ensure(values.type == default.type, "values and default value have different types")
    index_size = indices.shape[1] if indices.rank == 2 else 1
    node.ensure(index_size == output_shape.element_count, "indices and output shape have different numbers of dimensions")
    index_count = indices.shape[0] if indices.rank == 2 else indices.element_count
    # Earlier releases check the number of values only if the value is a scalar.
    is_checked = (values.rank != 0) == node.since("litert-2.1.6")
    node.ensure(not is_checked or values.element_count == index_count, "the number of values differs from the number of indices")
    result = node.output()
    result.type = values.type
    if output_shape.is_constant_or_persistent:
        node.resize(result, output_shape.integers())
    else:
        node.set_dynamic(result, output_shape)
