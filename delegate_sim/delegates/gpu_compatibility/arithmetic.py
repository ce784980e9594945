"""Activation functions, elementwise arithmetic, conversions and reductions."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, BROADCAST, QUANTIZATION, TENSOR_TYPE
from ...rules.operands import operand
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, refused_if, typed
from .checks import (
    COMPATIBILITY,
    CONSTANT_INT32_AXES,
    FLOAT,
    KNOWN_ACTIVATION,
    case,
    joined,
    one_or_two_operands,
    operands,
    runtime_operands,
    shapes,
)


def _beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1 else f"beta {node.options.beta:g}"


SOFTMAX = case(check(ATTRIBUTE, "beta 1", _beta, "scale the input instead").saying("Softmax.beta != 1 is not supported."))

UNARY = (operands(1, 0, 1),)
BINARY = (one_or_two_operands(),)
BINARY_WITH_ACTIVATION = (*BINARY, KNOWN_ACTIVATION)
ADD_OPERANDS, ADD_N, MUL_OPERANDS = case(
    operand_count(2).saying("ADD requires two input tensors."),
    operand_count(2).saying("ADD_N only supports 2 inputs."),
    operand_count(2).saying("MUL requires two input tensors."),
)


def is_broadcastable(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Return whether two shapes broadcast (``CheckIsBroadcastable``).

    The shapes are aligned at the last dimension. In each dimension, the sizes must be equal, or one size must be 1.
    """
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

# Selection

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
