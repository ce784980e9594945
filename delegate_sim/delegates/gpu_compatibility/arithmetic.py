"""Activation functions, elementwise arithmetic, reductions, conversions, and operators that fill or move elements."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, BROADCAST, CONSTANT, OPERAND_COUNT, QUANTIZATION, SHAPE, TENSOR_TYPE, by_reshape, in_code
from ...rules.operands import at_least, counted, operand
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, option, rank, refused_if, typed
from .checks import (
    COMPATIBILITY,
    CONSTANT_INT32_AXES,
    FLOAT,
    INT32,
    KNOWN_ACTIVATION,
    ONE_OR_TWO_OPERANDS,
    case,
    joined,
    operands,
    operands_available,
    runtime_operands,
    saying,
    shapes,
)


def _beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1 else f"beta {node.options.beta:g}"


SOFTMAX = case(check(ATTRIBUTE, "beta 1", _beta, "scale the input instead").saying("Softmax.beta != 1 is not supported."))

UNARY = (operands(1, 0, 1),)
BINARY = (ONE_OR_TWO_OPERANDS,)
BINARY_WITH_ACTIVATION = (*BINARY, KNOWN_ACTIVATION)
ADD_OPERANDS, ADD_N, MUL_OPERANDS = case(
    operand_count(2).saying("ADD requires two input tensors."),
    operand_count(2).saying("ADD_N only supports 2 inputs."),
    operand_count(2).saying("MUL requires two input tensors."),
)


def is_broadcastable(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Return whether two shapes, aligned at the last dimension, have equal sizes or a size of 1 (``CheckIsBroadcastable``)."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(one == other or 1 in (one, other) for one, other in pairs)


def _fits_older_delegate(shorter: tuple[int, ...], longer: tuple[int, ...]) -> bool:
    return len(longer) == 4 and (
        (len(shorter) == 3 and longer[0] == 1)
        or (shorter == (1, 1) and longer[0] == 1)
        or (len(shorter) == 2 and shorter == (longer[0], longer[3]))
    )


def _broadcast(needed: str, fits: Callable[[tuple[int, ...], tuple[int, ...]], bool]) -> Check[object]:
    def find(node: NodeView) -> str | None:
        shorter, longer = sorted((node.input(0).shape, node.input(1).shape), key=len)
        if len(shorter) <= 1 or len(shorter) == len(longer):
            return None
        return None if fits(shorter, longer) else shapes(node)

    def say(node: NodeView) -> str:
        first, second = joined(node.input(0).shape), joined(node.input(1).shape)
        return f"Doesn't support broadcasting - input0: {first}, input1: {second}"

    demand = check(BROADCAST, needed, find).saying(say)
    return demand.from_source(COMPATIBILITY.with_symbol("CheckAddMulBroadcastCompatibility"))


PLAIN_BROADCAST = _broadcast(
    "operands of the same rank, an operand of rank 0 or 1, or shapes such as [h, w, c] with [1, h, w, c], [1, 1] with "
    "[1, h, w, c], or [b, c] with [b, h, w, c]",
    _fits_older_delegate,
)
"""The broadcast check of the older GPU delegate, which lacks the flag ``kEnhancedBroadcast``."""
ENHANCED_BROADCAST = _broadcast(
    "shapes that broadcast: aligned at the last dimension, with equal sizes or a size of 1", is_broadcastable
)
"""The broadcast check of ML Drift, which sets the flag ``kEnhancedBroadcast``."""

_SELECT_SAYS = "Cond must be float or bool type, if, else tensors must be either be same the shape as output or constant, scalar."
SELECT_OPERANDS = operand_count(3, 1).saying("Expected 3 inputs and 1 output")
SELECT_CONDITION = typed(operand(0, "condition"), ("BOOL", "FLOAT16", "FLOAT32")).saying(_SELECT_SAYS)


def _value_of_another_shape(node: NodeView, position: int) -> str | None:
    value, shape = node.input(position).shape, node.output(0).shape
    if not value or value == shape or (len(value) == 1 and value[0] <= 1):
        return None
    return f"input {position} {list(value)}, output {list(shape)}"


def selected_value(position: int) -> Check[object]:
    """Require that the SELECT operand at ``position`` is a scalar or has the output's shape."""
    return check(
        BROADCAST,
        f"an input {position} that is a scalar or has the shape of the output",
        lambda node: _value_of_another_shape(node, position),
        "give both values the shape of the output",
    ).saying(_SELECT_SAYS)


def _say_counts(node: NodeView) -> str:
    return f"Expected 1 input & output each from Dequantize, got: {len(node.node.inputs)}, {len(node.node.outputs)}"


DEQUANTIZE = case(
    operand_count(1, 1).saying(_say_counts),
    refused_if(
        QUANTIZATION,
        "an input of any type except INT16",
        lambda node: node.input(0).type == "INT16",
        "an INT16 input",
        "quantize to 8 bits",
    ).saying("Unsupported dequantization type."),
)
QUANTIZE = case(runtime_operands(1, 1))


def _cumsum_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source in FLOAT and result == source else f"input {source}, output {result}"


_CUMSUM_SAYS = "Input/output must be float type and indices must be constant int32 type"
CUMSUM = case(
    operand_count(2, 1).saying("Expects 2 inputs and 1 output"),
    check(TENSOR_TYPE, "the same float type in input and output", _cumsum_types).saying(_CUMSUM_SAYS),
    CONSTANT_INT32_AXES.saying(_CUMSUM_SAYS),
    source=COMPATIBILITY.with_symbol("CheckCumsumGpuDelegateCompatibility"),
)
AXES = CONSTANT_INT32_AXES.from_source(COMPATIBILITY.with_symbol("CheckAxesAreInt32Const"))
MEAN = (operands(1, 1, 1), AXES)
REDUCTION = (runtime_operands(1, 1).before_release("litert-2.1.6"), operands(1, 1, 1).from_release("litert-2.1.6"), AXES)


def _wrong_counts_both(node: NodeView) -> str | None:
    counts = len(node.node.inputs), len(node.node.outputs)
    if counts[0] == 4 or counts[1] == 1:
        return None
    return f"{counted(counts[0], 'input')} and {counted(counts[1], 'output')}"


def _one_hot_axis(node: NodeView) -> str | None:
    # The runtime compares the axis with a size, not with a rank. For scalar indices, releases before LiteRT 2.1.6 read memory
    # with unknown contents.
    axis, shape = node.options.axis, node.input(0).shape
    return None if axis == -1 or (shape and axis == shape[-1]) else f"axis {axis} with indices of shape {list(shape)}"


def _one_hot_dimension(node: NodeView) -> str | None:
    shape = node.input(0).shape
    first = 1 if len(shape) > 3 else 0
    return None if all(size == 1 for size in shape[first:-1]) else f"indices of shape {list(shape)}"


def say_one_hot_dimension(first_word: str, node: NodeView) -> str:
    """Return the message about a dimension of ONE_HOT's indices. Older releases misspell its first word."""
    shape = node.input(0).shape
    first = 1 if len(shape) > 3 else 0
    return f"{first_word} non-singleton dim at {next((at for at in range(first, len(shape) - 1) if shape[at] != 1), 0)}"


say_one_hot_dimension_misspelled = functools.partial(say_one_hot_dimension, "Unspported")


def _one_hot_values(node: NodeView) -> str | None:
    for position, name in ((2, "on"), (3, "off")):
        value = node.input(position)
        if not value.is_constant or value.rank > 1 or (value.rank == 1 and value.shape[0] > 1):
            return f"{name} value {'constant' if value.is_constant else 'not constant'}, of shape {list(value.shape)}"
    return None


ONE_HOT_AXIS = check(ATTRIBUTE, "an axis of -1, or an axis equal to the last size of the indices", _one_hot_axis)
_ONE_HOT_SAYS = "Indices must be int32 type, on/off tensors must be constant, scalar, float type, axis must be -1 or last dim"
ONE_HOT = case(
    *saying(
        "Expects 4 inputs and 1 output",
        (
            check(OPERAND_COUNT, "4 inputs, or 1 output", _wrong_counts_both).before_release("litert-2.1.6"),
            operand_count(4, 1).from_release("litert-2.1.6"),
        ),
    ),
    *saying(_ONE_HOT_SAYS, (typed(operand(0, "index tensor"), INT32, hint=in_code("use INT32 indices")), ONE_HOT_AXIS)),
    check(SHAPE, "indices of size 1 in all dimensions except batch and channels", _one_hot_dimension).saying(
        say_one_hot_dimension_misspelled
    ),
    *saying(
        _ONE_HOT_SAYS,
        (
            typed(operand(2, "on value"), ("FLOAT32",), hint=in_code("use FLOAT32 values")),
            typed(operand(3, "off value"), ("FLOAT32",), hint=in_code("use FLOAT32 values")),
            check(CONSTANT, "constant scalars as on value and off value", _one_hot_values),
        ),
    ),
    source=COMPATIBILITY.with_symbol("CheckOneHotGpuDelegateCompatibility"),
)

INDICES = operand(1, "index tensor")

GATHER = case(
    ONE_OR_TWO_OPERANDS,
    rank(INDICES, 1).saying("Only support 1D indices"),
    typed(INDICES, INT32, hint=in_code("use INT32 indices")).saying("Only accept INT32 indices"),
)

_PADDINGS = operand(1, "paddings")
_PADDING_SHAPES = ((3, 2), (4, 2))
_REFLECT, _SYMMETRIC = 0, 1


def _paddings_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape in _PADDING_SHAPES else f"paddings of shape {list(shape)}"


def _say_paddings_shape(node: NodeView) -> str:
    shape = "x".join(map(str, node.input(1).shape))
    return f"Invalid paddings tensor shape: expected 4x2 or 3x2, got {shape}"


def _mirror_mode(node: NodeView) -> str | None:
    if node.options.table is None:
        return "an unknown mode"
    if node.options.mode == _REFLECT:
        return None
    return "mode SYMMETRIC" if node.options.mode == _SYMMETRIC else "an unknown mode"


def _say_mirror_mode(node: NodeView) -> str:
    is_symmetric = node.options.table is not None and node.options.mode == _SYMMETRIC
    return f"Only Reflective padding is supported for Mirror Pad operation. But node has {2 if is_symmetric else 0}"


PAD = case(
    runtime_operands(1, 1),
    operands_available(operand_count(at_least(2)), 1),
    rank(_PADDINGS, 2).saying(lambda node: f"Invalid paddings tensor dimension: expected 2 dim, got {node.input(1).rank} dim"),
    check(SHAPE, "paddings of shape [3, 2] or [4, 2]", _paddings_shape, "pad only tensors of rank 3 or 4").saying(
        _say_paddings_shape
    ),
)
MIRROR_PAD = case(check(ATTRIBUTE, "mode REFLECT", _mirror_mode).saying(_say_mirror_mode), *PAD)


def _say_blocks(node: NodeView) -> str:
    return f"{node.op} block_size {'= 1 is a no-op.' if node.options.block_size == 1 else 'must be > 1.'}"


BLOCKS = case(
    runtime_operands(1, 1),
    option("block_size", at_least(2), hint="remove the operator: a block size of 1 changes nothing").saying(_say_blocks),
)
"""Checks of DEPTH_TO_SPACE and SPACE_TO_DEPTH."""

SLICE_MASKS = (
    option("ellipsis_mask", 0, hint="slice without an ellipsis").saying("Slice does not support ellipsis_mask."),
    option("new_axis_mask", 0, hint=by_reshape("add the dimension with RESHAPE")).saying("Slice does not support new_axis_mask."),
    option("shrink_axis_mask", 0, hint=by_reshape("drop the dimension with RESHAPE")).saying(
        "Slice does not support shrink_axis_mask parameter. "
    ),
    operand_count(at_least(4)).saying("STRIDED_SLICE requires 4 inputs."),
)
"""The first checks of STRIDED_SLICE. ML Drift's own parser repeats these checks with the same messages."""
