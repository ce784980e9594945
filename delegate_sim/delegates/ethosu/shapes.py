"""Operators that move elements: reductions, reshaping, slicing, joining and padding."""

from __future__ import annotations

import math

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, OPERAND_VALUE, RANK, READS_BEYOND_OPERANDS, SHAPE, TENSOR_TYPE, by_reshape
from ...rules.operands import OUTPUT, exactly, int32_halves, operand
from ...rules.vocabulary import check, constant, inputs, operand_count, option, typed, unset
from .checks import (
    EIGHT_BITS,
    FUSED,
    SAME_QUANTIZATION,
    ethosu_rule,
    int32_values,
    reads,
    same_element_count,
    upstream,
    values_of,
)

_AXIS = operand(1, "axis")
_DEEPEST_MAXIMUM = 127
_LONGEST_MEAN = 64 * 64
_MOST_ELEMENTS = {"INT16": 1 << 16, "UINT8": 1 << 23}
_MOST_ELEMENTS_INT8 = 1 << 24


def _other_axis(node: NodeView) -> str | None:
    axis = next(iter(int32_values(node, _AXIS)), 0)
    return None if axis in (node.input(0).rank - 1, -1) else f"axis {axis} of {node.input(0).rank} dimensions"


def _deep(node: NodeView) -> str | None:
    depth = node.input(0).size(-1)
    return None if depth <= _DEEPEST_MAXIMUM else f"{depth} channels"


_ARG_MAX = upstream(
    "ConstraintArgmax",
    reads(_AXIS),
    check(OPERAND_VALUE, "the last axis", _other_axis, "transpose, so that the axis is the last one"),
    check(SHAPE, f"at most {_DEEPEST_MAXIMUM} channels", _deep, "leave ARG_MAX to the CPU at the end of the model"),
    typed(OUTPUT, ("INT32", "INT64")),
)


def _reduced(node: NodeView) -> list[int]:
    return int32_values(node, _AXIS)


def _other_axes(node: NodeView) -> str | None:
    shape = node.input(0).shape
    for axis in _reduced(node):
        if not 0 <= axis < len(shape):
            return f"axis {axis} of {len(shape)} dimensions"
        is_batch = len(shape) == 4 and axis == 0 and shape[0] != 1
        is_depth = len(shape) >= 3 and axis == len(shape) - 1 and 1 not in shape[-3:]
        if is_batch or is_depth:
            return f"axis {axis} of shape {list(shape)}"
    return None


def _many(node: NodeView) -> str | None:
    source = node.input(0)
    # bounded: the reader limits shapes
    count = math.prod(source.size(axis) for axis in _reduced(node))
    return None if count <= _MOST_ELEMENTS.get(source.type, _MOST_ELEMENTS_INT8) else f"{count:,} elements"


def _wide(node: NodeView) -> str | None:
    source = node.input(0)
    width = source.size(1 if source.rank < 4 else 2)
    return None if width <= _LONGEST_MEAN else f"width {width:,}"


def _deep_mean(node: NodeView) -> str | None:
    source = node.input(0)
    depth = source.size(-1)
    return f"{depth:,} channels" if source.rank - 1 in _reduced(node) and depth > _LONGEST_MEAN else None


_MEAN = (
    *upstream(
        "ConstraintMeanAxisValue",
        reads(_AXIS),
        check(
            OPERAND_VALUE,
            "axes of 0 or more; the batch only if its size is 1, and channels only if height, width or channels have size 1",
            _other_axes,
            "average over height and width, with axes counted from the front",
        ),
    ),
    *upstream(
        "ConstraintMeanProduct",
        check(
            SHAPE,
            f"at most {_MOST_ELEMENTS_INT8:,} elements to average (UINT8: {_MOST_ELEMENTS['UINT8']:,}, INT16: "
            f"{_MOST_ELEMENTS['INT16']:,})",
            _many,
            "average in two steps",
        ),
    ),
    *upstream("ConstraintMeanWidth", check(SHAPE, f"a width of at most {_LONGEST_MEAN:,}", _wide, "use a smaller image")),
    *upstream(
        "ConstraintMeanDepth",
        check(SHAPE, f"at most {_LONGEST_MEAN:,} channels if the node averages channels", _deep_mean, "average in two steps"),
    ),
)

_PLAIN = ethosu_rule()
_SHAPE = operand(1, "shape")
_RESHAPE = upstream(
    "ConstraintReshapeShapeConstant",
    check(
        READS_BEYOND_OPERANDS,
        "a second input with the shape",
        lambda node: "1 input" if len(node.node.inputs) < 2 else None,
        "give the shape as a constant input",
    ),
    constant(_SHAPE),
)
_PERMUTATION = operand(1, "permutation")


def _other_length(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape == (node.input(0).rank,) else f"permutation of shape {list(shape)}"


def _outside(node: NodeView) -> str | None:
    values, rank = int32_values(node, _PERMUTATION), node.input(0).rank
    return None if all(0 <= value < rank for value in values) else f"permutation {values}"


def _other_order(node: NodeView) -> str | None:
    """Return the permutation unless the delegate supports it.

    For three dimensions, upstream compares the second position twice, so it refuses [1, 0, 2].
    """
    source, values = node.input(0), int32_values(node, _PERMUTATION)
    rank = source.rank
    patterns: dict[int, list[tuple[dict[int, int], int | None]]] = {
        2: [({}, None)],
        3: [({0: 1, 1: 1}, None), ({1: 2, 2: 1}, 0), ({0: 2, 2: 0}, 1)],
        4: [({0: 0, 1: 2, 2: 1}, None), ({0: 0, 2: 3, 3: 2}, 1), ({0: 0, 1: 3, 3: 1}, 2)],
    }
    for positions, single in patterns.get(rank, []):
        if (single is None or source.size(single) == 1) and all(values[at] == axis for at, axis in positions.items()):
            return None
    return f"permutation {values} of shape {list(source.shape)}"


_TRANSPOSE = upstream(
    "ConstraintTranspose",
    check(SHAPE, "a permutation with one element for each dimension", _other_length),
    constant(_PERMUTATION),
    check(OPERAND_VALUE, "a permutation of the dimensions", _outside),
    check(
        OPERAND_VALUE,
        "a swap of two of height, width and channels; if channels are swapped, the third dimension must have size 1",
        _other_order,
        "swap only two dimensions, and only if the third dimension has size 1",
    ),
)

_STRIDES = operand(3, "strides")


def _both_masks(node: NodeView) -> str | None:
    options = node.options
    return "new_axis_mask and shrink_axis_mask" if options.new_axis_mask and options.shrink_axis_mask else None


def _no_elements(node: NodeView) -> str | None:
    """Return the shape if a dimension of the input is not positive.

    Upstream intends to compare begin and end. By mistake, it compares 0 with the size of the dimension.
    """
    shape = node.input(0).shape
    return f"input of shape {list(shape)}" if any(size <= 0 for size in shape) else None


def _other_stride(node: NodeView) -> str | None:
    values = int32_values(node, _STRIDES)
    return None if all(value == 1 for value in values) else f"strides {values}"


_STRIDED = upstream(
    "ConstraintStridedSliceValues",
    operand_count(inputs=exactly(4)),
    constant(operand(1, "begin")),
    constant(operand(2, "end")),
    constant(_STRIDES),
    unset("offset"),
    option("ellipsis_mask", 0, hint="slice without an ellipsis"),
    check(
        ATTRIBUTE,
        "at most one of new_axis_mask and shrink_axis_mask",
        _both_masks,
        by_reshape("add and remove dimensions with RESHAPE"),
    ),
    check(SHAPE, "an input without a dimension of size 0", _no_elements),
    check(OPERAND_VALUE, "strides of 1", _other_stride, "slice with strides of 1"),
)
_SLICE = upstream("ConstraintSliceInputsConst", constant(operand(1, "begin")), constant(operand(2, "size")))


def _concatenation_axis(node: NodeView) -> int:
    axis: int = node.options.axis
    rank = node.output(0).rank
    return axis if axis >= 0 else axis + rank


def _joining_other_axis(node: NodeView) -> str | None:
    met = 0 <= _concatenation_axis(node) < node.output(0).rank
    return None if met else f"axis {node.options.axis} of {node.output(0).rank} dimensions"


def _other_rank(node: NodeView) -> str | None:
    rank = node.output(0).rank
    return next((f"{name} of rank {tensor.rank}" for name, tensor in inputs(node) if tensor.rank != rank), None)


def _other_sizes(node: NodeView) -> str | None:
    axis, result = _concatenation_axis(node), node.output(0).shape
    total = 0
    for name, tensor in inputs(node):
        if any(size != expected for at, (size, expected) in enumerate(zip(tensor.shape, result, strict=True)) if at != axis):
            return f"{name} of shape {list(tensor.shape)} and output {list(result)}"
        total += tensor.shape[axis]
    return None if total == result[axis] else f"inputs of {total} elements along the axis and output {list(result)}"


_CONCATENATION = upstream(
    "ConstraintConcatAxis",
    check(ATTRIBUTE, "an axis of the output", _joining_other_axis),
    check(RANK, "inputs of the output's rank", _other_rank),
    check(
        SHAPE,
        "input sizes that add up to the output's size along the axis, and that equal the output's sizes in all other dimensions",
        _other_sizes,
    ),
)
_JOINING_AXIS = operand(0, "axis")


def _joining_outside(node: NodeView) -> str | None:
    axis, rank = _split_axis(node), node.input(1).rank
    return None if 0 <= axis < rank else f"axis {int32_values(node, _JOINING_AXIS)[:1]} of {rank} dimensions"


def _split_axis(node: NodeView) -> int:
    axis = next(iter(int32_values(node, _JOINING_AXIS)), 0)
    return axis + node.input(1).rank if axis < 0 else axis


def _uneven(node: NodeView) -> str | None:
    length, number = node.input(1).size(_split_axis(node)), node.options.num_splits
    return None if number and length % number == 0 else f"{length} elements in {number} parts"


_SPLIT = upstream(
    "ConstraintSplit",
    reads(_JOINING_AXIS),
    check(OPERAND_VALUE, "an axis of the input", _joining_outside),
    check(SHAPE, "parts of equal size", _uneven),
)
_SIZES = operand(1, "sizes")


def _inferred(node: NodeView) -> str | None:
    count = sum(value < 0 for value in int32_values(node, _SIZES))
    return None if count <= 1 else f"{count} sizes that are inferred"


_SPLIT_V = upstream(
    "ConstraintSplitVInferred",
    operand_count(inputs=exactly(3)),
    check(TENSOR_TYPE, "sizes that are not INT64", lambda node: "INT64 sizes" if _SIZES.tensor(node).type == "INT64" else None),
    reads(_SIZES),
    check(OPERAND_VALUE, "at most one inferred size", _inferred, "state the sizes"),
)

_PADDINGS = operand(1, "paddings")


def _other_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape in ((3, 2), (4, 2)) else f"paddings of shape {list(shape)}"


def _other_output(node: NodeView) -> str | None:
    """Return the shapes if the output is not the padded input.

    If the paddings are INT64, the delegate reads the two halves of one number as the paddings of one dimension.
    """
    source, result, paddings = node.input(0), node.output(0), node.input(1)
    values = values_of(node, paddings)
    numbers = int32_halves(values) if paddings.type == "INT64" else values
    pairs = [sum(numbers[at : at + 2]) for at in range(0, len(numbers), 2)]
    # bounded: the paddings are a constant in the file
    met = all(result.size(axis) == source.size(axis) + pairs[axis] for axis in range(paddings.shape[0]))
    return None if met else f"input {list(source.shape)}, output {list(result.shape)} and paddings {values}"


_CHECKS = upstream(
    "ConstraintPad",
    operand_count(inputs=exactly(2)),
    constant(_PADDINGS),
    typed(_PADDINGS, ("INT32", "INT64")),
    check(SHAPE, "paddings of shape [3, 2] or [4, 2]", _other_shape, by_reshape("add dimensions with RESHAPE")),
    check(SHAPE, "an output as large as the padded input", _other_output),
)

RULES = {
    "ARG_MAX": ethosu_rule(*EIGHT_BITS, *_ARG_MAX, scalar_inputs=True, int32=True, all_types=True, unquantized=True),
    "MEAN": ethosu_rule(*_MEAN, scalar_inputs=True),
    "BATCH_TO_SPACE_ND": _PLAIN,
    "EXPAND_DIMS": ethosu_rule(*SAME_QUANTIZATION, same_element_count, scalar_inputs=True),
    "RESHAPE": ethosu_rule(*_RESHAPE, *SAME_QUANTIZATION, same_element_count, batches=True),
    "SHAPE": ethosu_rule(int32=True, unquantized=True, batches=True),
    "SPACE_TO_BATCH_ND": _PLAIN,
    "SQUEEZE": ethosu_rule(*SAME_QUANTIZATION, same_element_count, batches=True),
    "TRANSPOSE": ethosu_rule(*_TRANSPOSE, operands=(0, 1), int32=True, unquantized=True),
    "SLICE": ethosu_rule(*_SLICE, batches=True),
    "STRIDED_SLICE": ethosu_rule(*_STRIDED, batches=True),
    "CONCATENATION": ethosu_rule(*FUSED, *_CONCATENATION, operands=(0, 1)),
    "PACK": ethosu_rule(),
    "SPLIT": ethosu_rule(*_SPLIT, operands=(1,), scalar_inputs=True, batches=True),
    "SPLIT_V": ethosu_rule(*_SPLIT_V, scalar_inputs=True, batches=True),
    "UNPACK": ethosu_rule(batches=True),
    "PAD": ethosu_rule(*_CHECKS),
}
