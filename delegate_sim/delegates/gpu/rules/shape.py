"""Operators that move elements: shapes, slices, padding, gathering, resizing.

Source: the parsers of these operators (``delegates/gpu/common/model_builder.cc``), and their cases in
``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``). PACK, SPLIT, SPLIT_V and UNPACK are taken
without any demand of their own.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ...finders import found_if
from .checks import (
    ATTRIBUTE,
    CONSTANT,
    OPERAND_COUNT,
    RANK,
    SHAPE,
    TENSOR_TYPE,
    check,
    counted,
    gpu_rule,
    gpu_rules,
    input_count,
    inputs_and_outputs,
    max_version,
    one_or_two_operands,
    option_is_zero,
    ranked,
    runtime_operands,
    shape_of,
    typed,
)

_BLOCK_SIZE = check(
    ATTRIBUTE,
    "block_size at least 2",
    lambda node: f"block_size {node.options.block_size}" if node.options.block_size <= 1 else None,
    "remove the operator: blocks of 1 change nothing",
)

_PADDING_SHAPES = ((3, 2), (4, 2))


def _paddings_shape(node: NodeView) -> str | None:
    return None if node.input(1).shape in _PADDING_SHAPES else f"paddings of shape {shape_of(node.input(1))}"


_PAD = (
    max_version(2),
    runtime_operands(1, 1),
    input_count("paddings", lambda count: count > 1),
    ranked(1, (2,), "paddings"),
    check(SHAPE, "paddings of shape [3, 2] or [4, 2]", _paddings_shape, "pad a tensor of rank 3 or 4"),
)


def _mirror_mode(node: NodeView) -> str | None:
    if node.options.table and node.options.mode == 0:
        return None
    return "mode SYMMETRIC" if node.options.table and node.options.mode == 1 else "an unknown mode"


_REFLECT = check(ATTRIBUTE, "mode REFLECT", _mirror_mode)


def _centers_and_corners(node: NodeView) -> str | None:
    both = node.options.align_corners and node.options.half_pixel_centers
    return "align_corners and half_pixel_centers" if both else None


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
    return None if axis == -1 or (shape and axis == shape[-1]) else f"axis {axis} with indices {shape_of(node.input(0))}"


def _one_hot_dimension(node: NodeView) -> str | None:
    shape = node.input(0).shape
    first = 1 if len(shape) > 3 else 0
    return None if all(size == 1 for size in shape[first:-1]) else f"indices of shape {shape_of(node.input(0))}"


def _one_hot_values(node: NodeView) -> str | None:
    for position, name in ((2, "on"), (3, "off")):
        value = node.input(position)
        if not value.is_constant or value.rank > 1 or (value.rank == 1 and value.shape[0] > 1):
            return f"{name} value {'constant' if value.is_constant else 'not constant'}, of shape {shape_of(value)}"
    return None


_ONE_HOT = (
    max_version(1),
    check(OPERAND_COUNT, "4 inputs, or 1 output", _wrong_counts_both).before_release("litert-2.1.6"),
    inputs_and_outputs(4, 1).from_release("litert-2.1.6"),
    typed(0, ("INT32",), "indices"),
    check(ATTRIBUTE, "axis -1, or equal to the last size of the indices", _one_hot_axis),
    check(SHAPE, "indices with sizes of 1, but for batch and channels", _one_hot_dimension),
    typed(2, ("FLOAT32",), "on value"),
    typed(3, ("FLOAT32",), "off value"),
    check(CONSTANT, "constant scalars as on and off value", _one_hot_values),
)


def _is_int32(node: NodeView) -> bool:
    return node.input(0).type == "INT32"


def _sliced_rank(node: NodeView) -> str | None:
    return None if node.input(0).rank in (3, 4) else f"input of rank {node.input(0).rank}"


_SLICED_RANK = check(RANK, "input of rank 3 or 4", _sliced_rank)

RULES = {
    "CONCATENATION": gpu_rule(max_version(2)),
    "DEPTH_TO_SPACE": gpu_rule(runtime_operands(1, 1), _BLOCK_SIZE),
    "SPACE_TO_DEPTH": gpu_rule(max_version(2), runtime_operands(1, 1), _BLOCK_SIZE),
    "GATHER": gpu_rule(
        max_version(1),
        one_or_two_operands(),
        ranked(1, (1,), "indices"),
        typed(1, ("INT32",), "indices"),
        check(TENSOR_TYPE, "data of another type than INT32", found_if(_is_int32, "INT32 data")).before_release("litert-1.1.0"),
        inputs=("INT32",),
    ),
    "ONE_HOT": gpu_rule(*_ONE_HOT, inputs=("INT32",)),
    **gpu_rules(("PACK", "SPLIT", "SPLIT_V", "UNPACK")),
    **gpu_rules(("PAD", "PADV2"), *_PAD),
    "MIRROR_PAD": gpu_rule(_PAD[0], _REFLECT, *_PAD[1:]),
    "RESHAPE": gpu_rule(max_version(1), runtime_operands(1, 1)),
    "RESIZE_BILINEAR": gpu_rule(
        max_version(3),
        runtime_operands(1, 1),
        check(ATTRIBUTE, "align_corners or half_pixel_centers, not both", _centers_and_corners),
    ),
    "RESIZE_NEAREST_NEIGHBOR": gpu_rule(max_version(3), runtime_operands(1, 1)),
    "SLICE": gpu_rule(max_version(2), input_count("at least 3 inputs", lambda count: count >= 3), _SLICED_RANK),
    "STRIDED_SLICE": gpu_rule(
        max_version(4),
        option_is_zero("ellipsis_mask"),
        option_is_zero("new_axis_mask"),
        option_is_zero("shrink_axis_mask"),
        input_count("at least 4 inputs", lambda count: count >= 4),
        _SLICED_RANK,
    ),
    "TILE": gpu_rule(runtime_operands(1, 1)),
    "TRANSPOSE": gpu_rule(max_version(4), runtime_operands(1, 1)),
}
