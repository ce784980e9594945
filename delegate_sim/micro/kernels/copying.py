"""Gathering, filling and padding."""

from __future__ import annotations

from collections.abc import Mapping

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...model import schema
from ...rules.kinds import ATTRIBUTE, BROADCAST, OPERAND_VALUE, QUANTIZATION, SHAPE
from ...rules.operands import INPUT, OUTPUT, at_least, at_most, exactly, operand
from ...rules.vocabulary import check, operand_count, rank, same_type, typed, where
from ..checks import (
    FLOAT32,
    FLOAT32_INT8,
    FLOAT32_INT8_INT16_INT32,
    INT8,
    INT32,
    ONE_TO_ONE,
    SAME_TYPES,
    TWO_TO_ONE,
    as_int32,
    constant,
    integers,
    one_element,
    same_parameters,
    symmetric,
    where_typed,
    zero_point,
)
from ..target import TENSOR_TYPE, MicroKernel, in_source

_LOOKUP, _VALUES = operand(0, "lookup"), operand(1, "value")
_INDICES = operand(1, "indices")
_MOST_INDICES = 5
_MOST_READ = 1 << 16


def _lookup_shape(node: NodeView) -> tuple[int, ...]:
    return (node.input(0).size(0), *node.input(1).shape[1:])


def _lookup_rank(node: NodeView) -> str | None:
    result, values = node.output(0).rank, node.input(1).rank
    return None if result >= values else f"output of rank {result} and value of rank {values}"


def _lookup_size(node: NodeView) -> str | None:
    result = node.output(0)
    shape = _lookup_shape(node) + result.shape[node.input(1).rank :]
    bits = schema.BITS_PER_ELEMENT.get(result.type, 0)
    needed, given = element_count(shape) * bits // 8, result.byte_size
    return None if needed <= given else f"output of {given} bytes, but the rows need {needed} bytes"


def _lookup_index(node: NodeView) -> str | None:
    rows = node.input(1).size(0)
    wrong = [index for index in integers(node, node.input(0), _MOST_READ) or () if not 0 <= index < rows]
    return f"index {wrong[0]} of {rows} rows" if wrong and rows else None


def _axis(node: NodeView) -> int:
    axis: int = node.options.axis
    return axis + node.input(0).rank if axis < 0 else axis


def _batch_dims(node: NodeView) -> int:
    count: int = node.options.batch_dims
    return count + node.input(1).rank if count < 0 else count


def _gather_axis(node: NodeView) -> str | None:
    dims = node.input(0).rank
    return None if 0 <= _axis(node) < dims else f"axis {node.options.axis} with input of rank {dims}"


def _gather_batch(node: NodeView) -> str | None:
    batch, source, indices = _batch_dims(node), node.input(0).shape, node.input(1).shape
    if batch <= _axis(node) and 0 <= batch < len(source) and batch <= len(indices) and source[:batch] == indices[:batch]:
        return None
    return f"batch_dims {node.options.batch_dims}, input of shape {list(source)} and indices of shape {list(indices)}"


def _gathered_shape(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    source, indices, axis = node.input(0).shape, node.input(1).shape, _axis(node)
    return {0: (*source[:axis], *indices[_batch_dims(node) :], *source[axis + 1 :])}


def _index_depth(node: NodeView) -> str | None:
    depth, dims = node.input(1).size(-1), node.input(0).rank
    return None if depth <= min(dims, _MOST_INDICES) else f"indices into {depth} dimensions of input of rank {dims}"


def _gathered_nd_shape(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    source, indices = node.input(0).shape, node.input(1).shape
    return {0: (*indices[:-1], *source[indices[-1] :])}


def _position_nd(node: NodeView) -> str | None:
    values, source, depth = integers(node, node.input(1), _MOST_READ), node.input(0).shape, node.input(1).size(-1)
    if not values or depth <= 0 or 0 in source:
        return None
    total, steps, left = element_count(source), [], element_count(source)
    for size in source[:depth]:
        left //= size
        steps.append(left)
    slice_size = element_count(source[depth:])
    # bounded: at most _MOST_READ values
    for start in range(0, len(values) - depth + 1, depth):
        place = sum([index * step for index, step in zip(values[start : start + depth], steps, strict=True)])
        if place < 0 or place + slice_size > total:
            return f"index {values[start : start + depth]} with input of shape {list(source)}"
    return None


_SECOND, _SHAPE = operand(1), operand(1, "shape")
_DIMS, _VALUE = operand(0, "dims"), operand(1, "value")
_SHAPE_TYPES = ("INT32", "INT64")
_MOST_DIMENSIONS = 5


def _shape_length(node: NodeView) -> str | None:
    count, dims = node.input(1).size(0), node.output(0).rank
    return None if count == dims else f"shape with {count} elements and output of rank {dims}"


def _ranks(node: NodeView) -> str | None:
    source, result = node.input(0).rank, node.output(0).rank
    return None if source <= result <= _MOST_DIMENSIONS else f"input of rank {source} and output of rank {result}"


def _broadcast(node: NodeView) -> str | None:
    wanted, source, result = integers(node, node.input(1)), node.input(0).shape, node.output(0).shape
    if wanted is None:
        return None
    wanted = wanted[: len(result)]
    tail = wanted[len(result) - len(source) :]
    if tuple(wanted) == result and all(size in (1, other) for size, other in zip(source, tail, strict=False)):
        return None
    return f"input of shape {list(source)} to {wanted}, output of shape {list(result)}"


def _filled_shape(node: NodeView) -> str | None:
    values, result = integers(node, node.input(0)), node.output(0).shape
    if values is None or tuple(values) == result:
        return None
    return f"dims {values} and output of shape {list(result)}"


_PADDINGS, _PADDING_VALUE = operand(1, "paddings"), operand(2, "constant_values")


def _mirror_count(node: NodeView) -> str | None:
    count, dims = node.input(1).size(0), node.input(0).rank
    return None if count == dims else f"paddings for {count} dimensions and input of rank {dims}"


def _padding_count(node: NodeView) -> str | None:
    count, dims = node.input(1).element_count, node.output(0).rank
    return None if count == 2 * dims else f"{count} paddings and output of rank {dims}"


def _padded_shape(node: NodeView) -> str | None:
    values = as_int32(node, node.input(1))
    if values is None:
        return None
    source, result = node.input(0).shape, node.output(0).shape
    if len(source) != len(result) or len(values) < 2 * len(result):
        return None
    padded = tuple(size + values[2 * axis] + values[2 * axis + 1] for axis, size in enumerate(source))
    return None if padded == result else f"output of shape {list(result)} for a padded shape {list(padded)}"


def _large_zero_point(node: NodeView) -> str | None:
    point = zero_point(node.output(0))
    return None if -128 <= point <= 127 else f"output with zero point {point}"


def _has_value(node: NodeView) -> bool:
    return len(node.node.inputs) == 3 and _PADDING_VALUE.is_given(node)


_WITH_VALUE = "with constant_values"


def _pad() -> MicroKernel:
    return MicroKernel(
        in_source(
            "pad_common.cc: PadPrepare",
            operand_count(exactly(2, 3), 1),
            SAME_TYPES,
            rank(INPUT, at_most(5)),
            *where(_has_value, _WITH_VALUE, same_type(INPUT, _PADDING_VALUE, kind=TENSOR_TYPE), one_element(_PADDING_VALUE)),
            check(SHAPE, "paddings with two elements for each dimension of output", _padding_count),
            constant(_PADDINGS),
            check(SHAPE, "an output of the padded shape", _padded_shape),
            *where_typed(
                INPUT,
                INT8,
                *where(
                    lambda node: not _has_value(node),
                    "without constant_values",
                    check(QUANTIZATION, "output with a zero point from -128 to 127", _large_zero_point),
                ),
                *where(_has_value, _WITH_VALUE, *reversed(same_parameters(OUTPUT, _PADDING_VALUE))),
            ),
        ),
        in_source("pad.cc: PadEval", typed(INPUT, FLOAT32_INT8_INT16_INT32)),
    )


KERNELS = {
    "EMBEDDING_LOOKUP": MicroKernel(
        in_source(
            "embedding_lookup.cc: EmbeddingLookUpPrepare",
            TWO_TO_ONE,
            rank(_LOOKUP, 1),
            typed(_LOOKUP, INT32),
            rank(_VALUES, at_least(2)),
            typed(_VALUES, FLOAT32_INT8),
            *where_typed(_VALUES, FLOAT32, typed(OUTPUT, FLOAT32)),
            *where_typed(_VALUES, INT8, typed(OUTPUT, FLOAT32_INT8)),
            check(SHAPE, "an output rank of at least the rank of value", _lookup_rank),
            check(SHAPE, "an output that is large enough for all rows", _lookup_size),
            *where_typed(_VALUES, INT8, *where_typed(OUTPUT, FLOAT32, *symmetric(_VALUES))),
        ),
        in_source(
            "embedding_lookup.cc: EmbeddingLookUpEval", check(OPERAND_VALUE, "indices of existing rows in value", _lookup_index)
        ),
        shapes=lambda node: {0: _lookup_shape(node) + node.output(0).shape[node.input(1).rank :]},
    ),
    "GATHER": MicroKernel(
        in_source(
            "gather.cc: GatherPrepare",
            TWO_TO_ONE,
            typed(_INDICES, INT32),
            typed(INPUT, FLOAT32_INT8),
            check(ATTRIBUTE, "axis that is a dimension of input", _gather_axis),
            check(ATTRIBUTE, "batch_dims that fit input and indices", _gather_batch),
        ),
        in_source("gather.cc: GatherEval"),
        shapes=_gathered_shape,
    ),
    "GATHER_ND": MicroKernel(
        in_source(
            "gather_nd.cc: GatherNdPrepare",
            TWO_TO_ONE,
            typed(INPUT, FLOAT32_INT8),
            typed(_INDICES, INT32),
            rank(INPUT, at_least(1)),
            rank(_INDICES, at_least(1)),
            check(SHAPE, f"indices into at most {_MOST_INDICES} dimensions of input", _index_depth),
        ),
        in_source("gather_nd.cc: GatherNdEval", check(OPERAND_VALUE, "indices of existing elements in input", _position_nd)),
        shapes=_gathered_nd_shape,
    ),
    "BROADCAST_ARGS": MicroKernel(
        in_source(
            "broadcast_args.cc: BroadcastArgsPrepare",
            TWO_TO_ONE,
            typed(INPUT, _SHAPE_TYPES),
            same_type(INPUT, _SECOND, kind=TENSOR_TYPE),
            SAME_TYPES,
            rank(INPUT, 1),
            rank(_SECOND, 1),
            rank(OUTPUT, 1),
        ),
        in_source("broadcast_args.cc: BroadcastArgsEval"),
    ),
    "BROADCAST_TO": MicroKernel(
        in_source(
            "broadcast_to.cc: BroadcastToPrepare",
            TWO_TO_ONE,
            rank(INPUT, at_most(_MOST_DIMENSIONS)),
            typed(_SHAPE, _SHAPE_TYPES),
            SAME_TYPES,
            constant(_SHAPE),
            rank(_SHAPE, 1),
            check(SHAPE, "one element of shape for each dimension of output", _shape_length),
            check(SHAPE, f"an output rank from the input rank to {_MOST_DIMENSIONS}", _ranks),
            check(BROADCAST, "an output of the given shape, and an input that can be broadcast to this shape", _broadcast),
        ),
        in_source("broadcast_to.cc: BroadcastToEval"),
    ),
    "FILL": MicroKernel(
        in_source(
            "fill.cc: FillPrepare",
            rank(_VALUE, 0),
            same_type(_VALUE, OUTPUT, kind=TENSOR_TYPE),
            constant(_DIMS),
            rank(_DIMS, 1),
            typed(_DIMS, ("INT8", "INT16", "INT32", "INT64")),
            check(SHAPE, "an output with the shape in dims", _filled_shape),
        ),
        in_source("fill.cc: FillEval", typed(_VALUE, ("FLOAT32", "INT32", "INT8"))),
    ),
    "ZEROS_LIKE": MicroKernel(
        in_source("zeros_like.cc: ZerosLikePrepare", ONE_TO_ONE),
        in_source("zeros_like.cc: ZerosLikeEval", typed(INPUT, ("INT64", "INT32", "INT8", "FLOAT32"))),
    ),
    "MIRROR_PAD": MicroKernel(
        in_source(
            "mirror_pad.cc: MirrorPadPrepare",
            rank(_PADDINGS, 2),
            check(SHAPE, "paddings for each dimension of input", _mirror_count),
        ),
        in_source("mirror_pad.cc: MirrorPadEval", typed(OUTPUT, FLOAT32_INT8)),
        scratch=lambda node: (4 * node.input(0).rank,) * 2,
    ),
    "PAD": _pad(),
    "PADV2": _pad(),
}
