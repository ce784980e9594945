"""Reading elements by index."""

from __future__ import annotations

from collections.abc import Mapping

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...model import schema
from ...rules.kinds import ATTRIBUTE, OPERAND_VALUE, SHAPE
from ...rules.number_sets import at_least
from ...rules.operands import INPUT, OUTPUT, operand
from ...rules.vocabulary import check, rank
from ..checks import FLOAT32, FLOAT32_INT8, INT8, INT32, TWO_TO_ONE, dimension, integers, of_type, symmetric, takes
from ..kernel import MicroKernel, in_source

_LOOKUP, _VALUES = operand(0, "lookup"), operand(1, "value")
_INDICES = operand(1, "indices")
_MOST_INDICES = 5
_MOST_READ = 1 << 16


def _lookup_shape(node: NodeView) -> tuple[int, ...]:
    return (dimension(node.input(0), 0), *node.input(1).shape[1:])


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
    rows = dimension(node.input(1), 0)
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
    depth, dims = dimension(node.input(1), -1), node.input(0).rank
    return None if depth <= min(dims, _MOST_INDICES) else f"indices into {depth} dimensions of input of rank {dims}"


def _gathered_nd_shape(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    source, indices = node.input(0).shape, node.input(1).shape
    return {0: (*indices[:-1], *source[indices[-1] :])}


def _position_nd(node: NodeView) -> str | None:
    values, source, depth = integers(node, node.input(1), _MOST_READ), node.input(0).shape, dimension(node.input(1), -1)
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


KERNELS = {
    "EMBEDDING_LOOKUP": MicroKernel(
        in_source(
            "embedding_lookup.cc",
            "EmbeddingLookUpPrepare",
            TWO_TO_ONE,
            rank(_LOOKUP, 1),
            takes(_LOOKUP, INT32),
            rank(_VALUES, at_least(2)),
            takes(_VALUES, FLOAT32_INT8),
            *of_type(_VALUES, FLOAT32, takes(OUTPUT, FLOAT32)),
            *of_type(_VALUES, INT8, takes(OUTPUT, FLOAT32_INT8)),
            check(SHAPE, "an output rank of at least the rank of value", _lookup_rank),
            check(SHAPE, "an output that is large enough for all rows", _lookup_size),
            *of_type(_VALUES, INT8, *of_type(OUTPUT, FLOAT32, *symmetric(_VALUES))),
        ),
        in_source(
            "embedding_lookup.cc", "EmbeddingLookUpEval", check(OPERAND_VALUE, "indices of existing rows in value", _lookup_index)
        ),
        shapes=lambda node: {0: _lookup_shape(node) + node.output(0).shape[node.input(1).rank :]},
    ),
    "GATHER": MicroKernel(
        in_source(
            "gather.cc",
            "GatherPrepare",
            TWO_TO_ONE,
            takes(_INDICES, INT32),
            takes(INPUT, FLOAT32_INT8),
            check(ATTRIBUTE, "axis that is a dimension of input", _gather_axis),
            check(ATTRIBUTE, "batch_dims that fit input and indices", _gather_batch),
        ),
        in_source("gather.cc", "GatherEval"),
        shapes=_gathered_shape,
    ),
    "GATHER_ND": MicroKernel(
        in_source(
            "gather_nd.cc",
            "GatherNdPrepare",
            TWO_TO_ONE,
            takes(INPUT, FLOAT32_INT8),
            takes(_INDICES, INT32),
            rank(INPUT, at_least(1)),
            rank(_INDICES, at_least(1)),
            check(SHAPE, f"indices into at most {_MOST_INDICES} dimensions of input", _index_depth),
        ),
        in_source("gather_nd.cc", "GatherNdEval", check(OPERAND_VALUE, "indices of existing elements in input", _position_nd)),
        shapes=_gathered_nd_shape,
    ),
}
