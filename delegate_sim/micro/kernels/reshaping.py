"""Joining, splitting and reshaping."""

from __future__ import annotations

from collections.abc import Mapping

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, OPERAND_COUNT, OPERAND_VALUE, QUANTIZATION, RANK, SHAPE
from ...rules.operands import INPUT, OUTPUT, at_least, at_most, between, exactly, operand
from ...rules.vocabulary import check, operand_count, rank, typed
from ..checks import (
    FLOAT32_INT8,
    FLOAT32_INT8_INT16,
    FLOAT32_INT8_INT16_INT32,
    INT32,
    NO_ACTIVATION,
    ONE_TO_ONE,
    SAME_TYPES,
    THREE_TO_ONE,
    TWO_TO_ONE,
    as_int32,
    axis_in_range,
    constant,
    integers,
    scale,
    zero_point,
)
from ..target import NO_PREPARE, TENSOR_TYPE, MicroKernel, in_source

_MOST_INPUTS = 10
_MOST_DIMENSIONS = 6


def _many_inputs(node: NodeView) -> str | None:
    count = len(node.node.inputs)
    return None if count <= _MOST_INPUTS else f"{count} inputs"


def _other_type(node: NodeView) -> str | None:
    first = node.input(0).type
    for position, tensor in enumerate(node.inputs):
        if tensor.type != first:
            return f"input 0 is {first} and input {position} is {tensor.type}"
    return None


def _large_rank(node: NodeView) -> str | None:
    for position, tensor in enumerate(node.inputs):
        if tensor.rank > _MOST_DIMENSIONS:
            return f"input {position} of rank {tensor.rank}"
    return None


def _other_parameters(node: NodeView) -> str | None:
    result = node.output(0)
    for position, tensor in enumerate(node.inputs):
        if node.input(0).type == "INT8":
            if scale(tensor) != scale(result):
                return f"input {position} with scale {scale(tensor):g} and output with scale {scale(result):g}"
            if zero_point(tensor) != zero_point(result):
                return f"input {position} with zero point {zero_point(tensor)} and output with zero point {zero_point(result)}"
        elif node.input(0).type == "INT16" and zero_point(tensor):
            return f"INT16 input {position} with zero point {zero_point(tensor)}"
    if node.input(0).type == "INT16" and zero_point(result):
        return f"INT16 output with zero point {zero_point(result)}"
    return None


_SPLIT_AXIS, _SPLIT_INPUT = operand(0, "axis"), operand(1, "input")
_SPLIT_V_AXIS = operand(2, "axis")


_AXIS = operand(1, "axis")
_PERMUTATION = operand(1, "perm")


def _space_batch(file: str, prepare: str, evaluate: str) -> MicroKernel:
    checks = (THREE_TO_ONE, rank(INPUT, between(3, 4)), rank(OUTPUT, between(3, 4)), SAME_TYPES)
    return MicroKernel(in_source(f"{file}: {prepare}", *checks), in_source(f"{file}: {evaluate}", typed(INPUT, FLOAT32_INT8)))


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
    count, dims = node.input(1).size(0), node.input(0).rank
    return None if count == dims else f"perm with {count} elements and input of rank {dims}"


def _permutation_range(node: NodeView) -> str | None:
    dims = node.input(0).rank
    wrong = [axis for axis in as_int32(node, node.input(1), dims) or () if not 0 <= axis < dims]
    return f"axis {wrong[0]} in perm, and input of rank {dims}" if wrong else None


KERNELS = {
    "CONCATENATION": MicroKernel(
        in_source(
            "concatenation.cc: ConcatenationPrepare",
            NO_ACTIVATION,
            typed(INPUT, (*FLOAT32_INT8_INT16_INT32, "INT64", "BOOL")),
            SAME_TYPES,
            check(
                OPERAND_COUNT,
                f"at most {_MOST_INPUTS} inputs",
                _many_inputs,
                "join the inputs in several steps, at most 10 at a time",
            ),
            check(TENSOR_TYPE, "inputs of the same type", _other_type),
            check(RANK, f"inputs of rank at most {_MOST_DIMENSIONS}", _large_rank),
            check(
                QUANTIZATION,
                "INT8 inputs with the scale and zero point of output; INT16 tensors with zero point 0",
                _other_parameters,
                "quantize all inputs with the parameters of the output",
            ),
        ),
        in_source("concatenation.cc: ConcatenationEval"),
    ),
    "PACK": MicroKernel(NO_PREPARE, in_source("pack.cc: PackEval", typed(OUTPUT, (*FLOAT32_INT8_INT16_INT32, "INT64")))),
    "SPLIT": MicroKernel(
        in_source("split.cc: SplitPrepare", constant(_SPLIT_AXIS)),
        in_source("split.cc: SplitEval", axis_in_range(_SPLIT_AXIS, _SPLIT_INPUT), typed(_SPLIT_INPUT, FLOAT32_INT8_INT16_INT32)),
    ),
    "SPLIT_V": MicroKernel(
        in_source("split_v.cc: SplitVPrepare", operand_count(3, at_least(1)), constant(_SPLIT_V_AXIS)),
        in_source("split_v.cc: SplitVEval", axis_in_range(_SPLIT_V_AXIS), typed(INPUT, FLOAT32_INT8_INT16_INT32)),
    ),
    "UNPACK": MicroKernel(
        NO_PREPARE, in_source("unpack.cc: UnpackEval", typed(INPUT, FLOAT32_INT8_INT16_INT32)), may_lack_results=True
    ),
    "BATCH_TO_SPACE_ND": _space_batch("batch_to_space_nd.cc", "BatchToSpaceNDPrepare", "BatchToSpaceNDEval"),
    "DEPTH_TO_SPACE": MicroKernel(
        in_source(
            "depth_to_space.cc: CalculateOpData",
            ONE_TO_ONE,
            rank(INPUT, 4),
            typed(OUTPUT, FLOAT32_INT8),
            SAME_TYPES,
            _BLOCK_SIZE,
            check(SHAPE, "a number of channels that is a multiple of block_size squared", _channels_left),
        ),
        in_source("depth_to_space.cc: DepthToSpaceEval"),
        shapes=_depth_to_space,
    ),
    "EXPAND_DIMS": MicroKernel(
        in_source(
            "expand_dims.cc: ExpandDimsPrepare",
            TWO_TO_ONE,
            constant(_AXIS),
            check(SHAPE, "axis of rank at most 1", _long_axis),
            typed(_AXIS, INT32),
            check(SHAPE, "an output with one more dimension than input, of size 1, at axis", _expanded_shape),
        ),
        in_source("expand_dims.cc: ExpandDimsEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
    "RESHAPE": MicroKernel(
        in_source(
            "reshape_common.cc: ReshapeOutput",
            operand_count(exactly(1, 2), 1),
            SAME_TYPES,
            check(SHAPE, "as many elements in output as in input", _other_count),
        ),
        in_source("reshape.cc: EvalReshapeReference"),
        shapes=lambda node: {0: _stretched(node)},
    ),
    "SHAPE": MicroKernel(in_source("shape.cc: ShapePrepare", ONE_TO_ONE), in_source("shape.cc: ShapeEval", typed(OUTPUT, INT32))),
    "SPACE_TO_BATCH_ND": _space_batch("space_to_batch_nd.cc", "SpaceToBatchNDPrepare", "SpaceToBatchNDEval"),
    "SPACE_TO_DEPTH": MicroKernel(
        in_source(
            "space_to_depth.cc: Prepare",
            ONE_TO_ONE,
            rank(INPUT, 4),
            typed(OUTPUT, FLOAT32_INT8),
            SAME_TYPES,
            _BLOCK_SIZE,
            check(SHAPE, "height and width that are multiples of block_size", _pixels_left),
        ),
        in_source("space_to_depth.cc: Eval"),
        shapes=_space_to_depth,
    ),
    "SQUEEZE": MicroKernel(
        in_source(
            "squeeze.cc: SqueezePrepare",
            ONE_TO_ONE,
            rank(INPUT, at_most(8)),
            check(SHAPE, "squeezed dimensions of size 1, and an output with all other dimensions", _squeezed),
        ),
        in_source("squeeze.cc: SqueezeEval", check(SHAPE, "input and output with the same number of bytes", _squeezed_bytes)),
    ),
    "TRANSPOSE": MicroKernel(
        in_source(
            "transpose_common.cc: TransposePrepare",
            TWO_TO_ONE,
            rank(INPUT, at_most(5)),
            SAME_TYPES,
            constant(_PERMUTATION),
            rank(_PERMUTATION, 1),
            check(SHAPE, "one element of perm for each dimension", _permutation_length),
            check(OPERAND_VALUE, "only dimensions of input in perm", _permutation_range),
        ),
        in_source("transpose.cc: TransposeEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
}
