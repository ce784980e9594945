"""Operators that move elements: shapes, slices, padding and gathering.

PACK, SPLIT, SPLIT_V and UNPACK are accepted without any demand of their own.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, SHAPE, TENSOR_TYPE
from ....rules.numbers import at_least, counted, exactly
from ....rules.operands import operand
from ....rules.vocabulary import check, operand_count, option, rank, refused_if, typed
from .checks import (
    COMPATIBILITY,
    INT32,
    UP_TO_1,
    UP_TO_2,
    UP_TO_4,
    gpu_rule,
    one_or_two_operands,
    runtime_operands,
)

_INPUT = operand(0, "input")
_INDICES = operand(1, "index tensor")
_PADDINGS = operand(1, "paddings")
_PADDING_SHAPES = ((3, 2), (4, 2))
_REFLECT, _SYMMETRIC = 0, 1

_BLOCK_SIZE = option("block_size", at_least(2), hint="remove the operator: blocks of 1 change nothing")


def _paddings_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape in _PADDING_SHAPES else f"paddings of shape {list(shape)}"


def _mirror_mode(node: NodeView) -> str | None:
    if node.options.table is None:
        return "an unknown mode"
    if node.options.mode == _REFLECT:
        return None
    return "mode SYMMETRIC" if node.options.mode == _SYMMETRIC else "an unknown mode"


_TO_PADDINGS = (
    runtime_operands(1, 1),
    operand_count(at_least(2)).from_source(COMPATIBILITY.with_symbol("CheckTensorIsAvailable")),
    rank(_PADDINGS, 2),
    check(SHAPE, "paddings of shape [3, 2] or [4, 2]", _paddings_shape, "pad a tensor of rank 3 or 4"),
)
_PAD = gpu_rule("PadOperationParser", *_TO_PADDINGS, version_in=UP_TO_2)


def _wrong_counts_both(node: NodeView) -> str | None:
    found = len(node.node.inputs), len(node.node.outputs)
    if found[0] == 4 or found[1] == 1:
        return None
    return f"{counted(found[0], 'input')} and {counted(found[1], 'output')}"


def _one_hot_axis(node: NodeView) -> str | None:
    """The delegate compares the axis with the last size of the indices, not with their rank.

    Before LiteRT 2.1.6 it looked for that size in scalars too, where there is none: what it found is not known.
    """
    axis, shape = node.options.axis, node.input(0).shape
    return None if axis == -1 or (shape and axis == shape[-1]) else f"axis {axis} with indices of shape {list(shape)}"


def _one_hot_dimension(node: NodeView) -> str | None:
    shape = node.input(0).shape
    first = 1 if len(shape) > 3 else 0
    return None if all(size == 1 for size in shape[first:-1]) else f"indices of shape {list(shape)}"


def _one_hot_values(node: NodeView) -> str | None:
    for position, name in ((2, "on"), (3, "off")):
        value = node.input(position)
        if not value.is_constant or value.rank > 1 or (value.rank == 1 and value.shape[0] > 1):
            return f"{name} value {'constant' if value.is_constant else 'not constant'}, of shape {list(value.shape)}"
    return None


_ONE_HOT = (
    check(OPERAND_COUNT, "4 inputs, or 1 output", _wrong_counts_both).before_release("litert-2.1.6"),
    operand_count(4, 1).from_release("litert-2.1.6"),
    typed(operand(0, "index tensor"), INT32, hint="use INT32 indices"),
    check(ATTRIBUTE, "axis -1, or equal to the last size of the indices", _one_hot_axis),
    check(SHAPE, "indices whose sizes are 1, except batch and channels", _one_hot_dimension),
    typed(operand(2, "on value"), ("FLOAT32",), hint="use FLOAT32 values"),
    typed(operand(3, "off value"), ("FLOAT32",), hint="use FLOAT32 values"),
    check(CONSTANT, "constant scalars as on and off value", _one_hot_values),
)

RULES = {
    "CONCATENATION": gpu_rule("ConcatenationOperationParser", version_in=UP_TO_2),
    "DEPTH_TO_SPACE": gpu_rule("DepthToSpaceOperationParser", runtime_operands(1, 1), _BLOCK_SIZE),
    "GATHER": gpu_rule(
        "GatherOperationParser",
        one_or_two_operands(),
        rank(_INDICES, 1),
        typed(_INDICES, INT32, hint="use INT32 indices"),
        refused_if(
            TENSOR_TYPE, "data of another type than INT32", lambda node: node.input(0).type == "INT32", "INT32 data"
        ).before_release("litert-1.1.0"),
        version_in=UP_TO_1,
        inputs=INT32,
    ),
    "MIRROR_PAD": gpu_rule(
        "PadOperationParser", check(ATTRIBUTE, "mode REFLECT", _mirror_mode), *_TO_PADDINGS, version_in=UP_TO_2
    ),
    "ONE_HOT": gpu_rule(
        "OneHotOperationParser",
        *_ONE_HOT,
        version_in=UP_TO_1,
        cases=(COMPATIBILITY.symbol, "CheckOneHotGpuDelegateCompatibility"),
        inputs=INT32,
    ),
    "PACK": gpu_rule("PackOperationParser"),
    "PAD": _PAD,
    "PADV2": _PAD,
    "RESHAPE": gpu_rule("ReshapeOperationParser", runtime_operands(1, 1), version_in=UP_TO_1),
    "SLICE": gpu_rule("SliceOperationParser", operand_count(at_least(3)), rank(_INPUT, exactly(3, 4)), version_in=UP_TO_2),
    "SPACE_TO_DEPTH": gpu_rule("SpaceToDepthOperationParser", runtime_operands(1, 1), _BLOCK_SIZE, version_in=UP_TO_2),
    "SPLIT": gpu_rule("SplitOperationParser"),
    "SPLIT_V": gpu_rule("SplitVOperationParser"),
    "STRIDED_SLICE": gpu_rule(
        "StridedSliceOperationParser",
        option("ellipsis_mask", 0, hint="write the slice without an ellipsis"),
        option("new_axis_mask", 0, hint="add the dimension with RESHAPE"),
        option("shrink_axis_mask", 0, hint="drop the dimension with RESHAPE"),
        operand_count(at_least(4)),
        rank(_INPUT, exactly(3, 4)),
        version_in=UP_TO_4,
    ),
    "TILE": gpu_rule("TileOperationParser", runtime_operands(1, 1)),
    "TRANSPOSE": gpu_rule("TransposeOperationParser", runtime_operands(1, 1), version_in=UP_TO_4),
    "UNPACK": gpu_rule("UnpackOperationParser", cases=()),
}
