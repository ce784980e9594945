"""Operators that copy all elements to another shape or order, and the SHAPE operator."""

from __future__ import annotations

from collections.abc import Mapping

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, OPERAND_VALUE, SHAPE
from ...rules.operands import INPUT, OUTPUT, at_most, between, exactly, operand
from ...rules.vocabulary import check, operand_count, rank, typed
from ..checks import (
    FLOAT32_INT8,
    FLOAT32_INT8_INT16,
    INT32,
    ONE_TO_ONE,
    SAME_TYPES,
    THREE_TO_ONE,
    TWO_TO_ONE,
    as_int32,
    dimension,
    fixed,
    integers,
)
from ..target import MicroKernel, in_source

_AXIS = operand(1, "axis")
_PERMUTATION = operand(1, "perm")


def _space_batch(file: str, prepare: str, evaluate: str) -> MicroKernel:
    checks = (THREE_TO_ONE, rank(INPUT, between(3, 4)), rank(OUTPUT, between(3, 4)), SAME_TYPES)
    return MicroKernel(in_source(file, prepare, *checks), in_source(file, evaluate, typed(INPUT, FLOAT32_INT8)))


def _no_block(node: NodeView) -> str | None:
    size = node.options.block_size
    return None if size > 0 else f"block_size {size}"


_BLOCK_SIZE = check(ATTRIBUTE, "block_size greater than 0", _no_block)


def _channels_left(node: NodeView) -> str | None:
    block, channels = node.options.block_size, node.input(0).shape[3]
    return None if channels % (block * block) == 0 else f"{channels} channels with block_size {block}"


def _pixels_left(node: NodeView) -> str | None:
    block, (height, width) = node.options.block_size, node.input(0).shape[1:3]
    return None if height % block == width % block == 0 else f"input of {height} x {width} with block_size {block}"


def _depth_to_space(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    block, (batch, height, width, channels) = node.options.block_size, node.input(0).shape
    return {0: (batch, height * block, width * block, channels // block // block)}


def _space_to_depth(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    block, (batch, height, width, channels) = node.options.block_size, node.input(0).shape
    return {0: (batch, height // block, width // block, channels * block * block)}


def _long_axis(node: NodeView) -> str | None:
    return None if node.input(1).rank <= 1 else f"axis of rank {node.input(1).rank}"


def _expanded_shape(node: NodeView) -> str | None:
    values = integers(node, node.input(1), 1)
    if not values:
        return None
    source, result = node.input(0).shape, node.output(0).shape
    axis = values[0] + len(source) + 1 if values[0] < 0 else values[0]
    if axis <= len(source) and result == (*source[: max(axis, 0)], 1, *source[max(axis, 0) :]):
        return None
    return f"axis {values[0]}, input of shape {list(source)} and output of shape {list(result)}"


def _stretched(node: NodeView) -> tuple[int, ...]:
    shape = node.output(0).shape
    if len(node.node.inputs) == 1 and shape == (0,):
        return ()
    if -1 not in shape:
        return shape
    others = 1
    for size in shape:
        others *= 1 if size == -1 else size
    filled = int(node.input(0).element_count / others) if others else 0
    return tuple(filled if size == -1 else size for size in shape)


def _product(shape: tuple[int, ...]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


def _other_count(node: NodeView) -> str | None:
    source, shape = node.input(0), node.output(0).shape
    if shape.count(-1) > 1:
        return f"output of shape {list(shape)}"
    count = _product(_stretched(node))
    return None if _product(source.shape) == count else f"input with {_product(source.shape)} elements and output with {count}"


def _squeezed(node: NodeView) -> str | None:
    source, result = node.input(0).shape, node.output(0).shape
    dims = node.options.squeeze_dims or ()
    removed = {at for at, size in enumerate(source) if size == 1} if not len(dims) else set()
    for axis in dims:
        current = axis + len(source) if axis < 0 else axis
        if not 0 <= current < len(source) or source[current] != 1:
            return f"squeeze_dims {axis} with input of shape {list(source)}"
        removed.add(current)
    kept = [size for at, size in enumerate(source) if at not in removed]
    if len(kept) <= len(result) and all(size >= least for size, least in zip(result, kept, strict=False)):
        return None
    return f"input of shape {list(source)} and output of shape {list(result)}"


def _squeezed_bytes(node: NodeView) -> str | None:
    source, result = node.input(0), node.output(0)
    if source.type == "STRING":
        return "input is STRING"
    return None if source.byte_size == result.byte_size else f"input of {source.byte_size} bytes and output of {result.byte_size}"


def _permutation_length(node: NodeView) -> str | None:
    count, dims = dimension(node.input(1), 0), node.input(0).rank
    return None if count == dims else f"perm with {count} elements and input of rank {dims}"


def _permutation_range(node: NodeView) -> str | None:
    dims = node.input(0).rank
    wrong = [axis for axis in as_int32(node, node.input(1), dims) or () if not 0 <= axis < dims]
    return f"axis {wrong[0]} in perm, and input of rank {dims}" if wrong else None


KERNELS = {
    "BATCH_TO_SPACE_ND": _space_batch("batch_to_space_nd.cc", "BatchToSpaceNDPrepare", "BatchToSpaceNDEval"),
    "DEPTH_TO_SPACE": MicroKernel(
        in_source(
            "depth_to_space.cc",
            "CalculateOpData",
            ONE_TO_ONE,
            rank(INPUT, 4),
            typed(OUTPUT, FLOAT32_INT8),
            SAME_TYPES,
            _BLOCK_SIZE,
            check(SHAPE, "a number of channels that is a multiple of block_size squared", _channels_left),
        ),
        in_source("depth_to_space.cc", "DepthToSpaceEval"),
        shapes=_depth_to_space,
    ),
    "EXPAND_DIMS": MicroKernel(
        in_source(
            "expand_dims.cc",
            "ExpandDimsPrepare",
            TWO_TO_ONE,
            fixed(_AXIS),
            check(SHAPE, "axis of rank at most 1", _long_axis),
            typed(_AXIS, INT32),
            check(SHAPE, "an output with one more dimension than input, of size 1, at axis", _expanded_shape),
        ),
        in_source("expand_dims.cc", "ExpandDimsEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
    "RESHAPE": MicroKernel(
        in_source(
            "reshape_common.cc",
            "ReshapeOutput",
            operand_count(exactly(1, 2), 1),
            SAME_TYPES,
            check(SHAPE, "as many elements in output as in input", _other_count),
        ),
        in_source("reshape.cc", "EvalReshapeReference"),
        shapes=lambda node: {0: _stretched(node)},
    ),
    "SHAPE": MicroKernel(
        in_source("shape.cc", "ShapePrepare", ONE_TO_ONE), in_source("shape.cc", "ShapeEval", typed(OUTPUT, INT32))
    ),
    "SPACE_TO_BATCH_ND": _space_batch("space_to_batch_nd.cc", "SpaceToBatchNDPrepare", "SpaceToBatchNDEval"),
    "SPACE_TO_DEPTH": MicroKernel(
        in_source(
            "space_to_depth.cc",
            "Prepare",
            ONE_TO_ONE,
            rank(INPUT, 4),
            typed(OUTPUT, FLOAT32_INT8),
            SAME_TYPES,
            _BLOCK_SIZE,
            check(SHAPE, "height and width that are multiples of block_size", _pixels_left),
        ),
        in_source("space_to_depth.cc", "Eval"),
        shapes=_space_to_depth,
    ),
    "SQUEEZE": MicroKernel(
        in_source(
            "squeeze.cc",
            "SqueezePrepare",
            ONE_TO_ONE,
            rank(INPUT, at_most(8)),
            check(SHAPE, "squeezed dimensions of size 1, and an output with all other dimensions", _squeezed),
        ),
        in_source("squeeze.cc", "SqueezeEval", check(SHAPE, "input and output with the same number of bytes", _squeezed_bytes)),
    ),
    "TRANSPOSE": MicroKernel(
        in_source(
            "transpose_common.cc",
            "TransposePrepare",
            TWO_TO_ONE,
            rank(INPUT, at_most(5)),
            SAME_TYPES,
            fixed(_PERMUTATION),
            rank(_PERMUTATION, 1),
            check(SHAPE, "one element of perm for each dimension", _permutation_length),
            check(OPERAND_VALUE, "only dimensions of input in perm", _permutation_range),
        ),
        in_source("transpose.cc", "TransposeEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
}
