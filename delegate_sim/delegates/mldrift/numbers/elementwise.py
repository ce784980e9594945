"""Wrong numbers of elementwise nodes.

A constant operand keeps another place in ML Drift's four axes than the runtime operand if their ranks or shapes differ. Most
wrong numbers come from this difference.
"""

from __future__ import annotations

from ....graph.graph import NodeView, fused_activation
from ....model.model import Tensor
from ....model.numbers import FlatNumbers, fact_of, fulfill
from ....releases.catalogue import parse_release
from ....rules.kinds import Problem
from ..shapes import Bhwc, axes_of, bhwc, filled, is_linear
from .rule import Affected, GraphPart, NumberRule
from .values import is_never_negative, is_positive

_BROADCASTING = (
    "ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD", "ATAN2", "EQUAL",
    "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR",
)  # fmt: skip
_WITH_ACTIVATION = (
    "ADD", "SUB", "MUL", "DIV", "CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D",
)  # fmt: skip
_CUBE = 3
"""The only odd power that the GPU computes rightly for negative numbers."""


def _strides(sizes: tuple[int, ...]) -> list[int]:
    """Return the distance of neighbors along each dimension, and 0 for dimensions of size 1, which are broadcast."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step if size > 1 else 0)
        step *= size
    return strides[::-1]


def is_read_elsewhere(shape: tuple[int, ...], layout: Bhwc, result: tuple[int, ...]) -> bool:
    """Return whether the GPU reads other elements of an operand than the CPU, which broadcasts as numpy does.

    ``shape`` is the shape of the operand, ``layout`` its sizes along the GPU's axes, and ``result`` the shape of the result.
    """
    own_axes = axes_of(len(result))[len(result) - len(shape) :]
    meant = filled(Bhwc(0, 0, 0, 0), own_axes, tuple(_strides(shape)))
    taken = _strides(layout)
    return any(
        size > 1 and (layout[axis] not in (1, size) or taken[axis] != meant[axis]) for axis, size in enumerate(bhwc(result))
    )


def constant_layout(constant: Tensor) -> Bhwc:
    """Return the sizes of a constant operand along the GPU's axes.

    Float and quantized constants are aligned to the last axis. Other constants of several elements keep their own axes.
    """
    if constant.element_count == 1:
        return Bhwc(1, 1, 1, 1)
    if constant.type not in ("FLOAT32", "FLOAT16") and constant.quantization is None:
        return bhwc(constant.shape)
    if is_linear(constant.shape):
        return Bhwc(1, 1, 1, constant.shape[-1])
    return filled(Bhwc(1, 1, 1, 1), (0, 1, 2, 3)[-constant.rank :], constant.shape)


def _constant_and_other(node: NodeView) -> tuple[Tensor, Tensor] | None:
    """Return the constant and the runtime operand of a node with exactly one of each, or None."""
    inputs = node.inputs[:2]
    if len(inputs) != 2 or inputs[0].is_constant == inputs[1].is_constant:
        return None
    constant, other = sorted(inputs, key=lambda tensor: not tensor.is_constant)
    result = node.output(0)
    if result.rank > 4 or max(constant.rank, other.rank) > result.rank:
        return None
    return constant, other


def _constant_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    operands = _constant_and_other(node)
    if operands is None or not is_read_elsewhere(operands[0].shape, constant_layout(operands[0]), node.output(0).shape):
        return None
    return Affected(operands[0], {"other": list(operands[1].shape)})


def _operand_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    operands = _constant_and_other(node)
    if operands is None or not is_read_elsewhere(operands[1].shape, bhwc(operands[1].shape), node.output(0).shape):
        return None
    return Affected(operands[1], {"other": list(node.output(0).shape)})


def _constant_batches(node: NodeView, part: GraphPart) -> Affected | None:
    operands = _constant_and_other(node)
    if operands is None or constant_layout(operands[0]).b == 1 or bhwc(operands[1].shape).b > 1:
        return None
    if _constant_elsewhere(node, part) or _operand_elsewhere(node, part):
        return None
    return Affected(operands[0], {"other": list(operands[1].shape)})


def _mixed_ranks(node: NodeView, part: GraphPart) -> Affected | None:
    operands, result = [node.input(0), node.input(1)], node.output(0).shape
    if (
        len(node.node.inputs) != 2
        or any(tensor.is_constant or tensor.rank > len(result) for tensor in operands)
        or len(result) > 4
    ):
        return None
    moved = [tensor for tensor in operands if is_read_elsewhere(tensor.shape, bhwc(tensor.shape), result)]
    return Affected(moved[0], {"other": list(result)}) if moved else None


def _condition_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    condition, result = node.input(0), node.output(0)
    # A condition of SELECT may have one element for each batch.
    is_of_batches = condition.element_count == 1 or (node.op == "SELECT" and condition.rank == 1)
    if is_of_batches or result.rank > 4 or condition.rank > result.rank:
        return None
    is_elsewhere = is_read_elsewhere(condition.shape, bhwc(condition.shape), result.shape)
    return Affected(condition, {"other": list(result.shape)}) if is_elsewhere else None


def _tanh(node: NodeView, part: GraphPart) -> Affected | None:
    return Affected(node.output(0)) if fused_activation(node) == "TANH" else None


def _negative_base(node: NodeView, part: GraphPart) -> Affected | None:
    base, exponent = node.input(0), node.input(1)
    powers = part.constant(exponent)
    if powers is None:
        return None if is_positive(part, base) else Affected(base)
    is_right = is_never_negative(part, base) or fact_of(powers, _are_exact)
    return None if is_right else Affected(base)


def _are_exact(powers: FlatNumbers) -> bool:
    """Return whether all powers are even integers or 3."""
    return fulfill(powers, lambda power: (power % 2 == 0) | (power == _CUBE))


def _leaky(node: NodeView, part: GraphPart) -> Affected | None:
    alpha = node.options.alpha
    return Affected(node.output(0), {"alpha": alpha}) if alpha > 1 or alpha < 0 else None


_RANK4 = (
    "Reshape the runtime operand to rank 4, with sizes of 1 in front, and keep the constant as it is. Reshape the result back. "
    "To reshape only the constant, or to swap the operands, does not help."
)

RULES = (
    NumberRule(
        "elementwise-const-layout",
        Problem.SHAPE,
        "constant operand that the GPU reads at other places",
        _BROADCASTING,
        "An elementwise operator has one constant operand with several elements. ML Drift aligns a float or quantized constant "
        "to the last of its four axes, but takes the first dimension of a runtime operand as the batch. So elements of the "
        "constant meet other elements than on the CPU. This happens to most constants if the result has rank 1, 2 or 3 and a "
        "first dimension above 1.",
        "The GPU uses, for example, row 0 of the constant for every row, or values from outside the constant.",
        _RANK4,
        "reshape the runtime operand to rank 4, keep the constant, and reshape the result back",
        "the GPU reads other elements of the constant {tensor} of shape {shape} than the CPU, because the other operand has "
        "shape {other}",
        _constant_elsewhere,
        is_before_backend=True,
    ),
    NumberRule(
        "elementwise-runtime-layout",
        Problem.SHAPE,
        "operand of lower rank whose first dimension becomes the batch",
        _BROADCASTING,
        "An elementwise operator has one constant operand, and the runtime operand has a lower rank than the result. ML Drift "
        "takes the first dimension of the runtime operand as the batch. On the CPU, this dimension is another one.",
        "The GPU reads the runtime operand at other places.",
        _RANK4,
        "reshape the runtime operand to rank 4, keep the constant, and reshape the result back",
        "the GPU takes the first dimension of {tensor} of shape {shape} as the batch, but the result has shape {other}",
        _operand_elsewhere,
        is_before_backend=True,
    ),
    NumberRule(
        "elementwise-const-batch",
        Problem.SHAPE,
        "constant operand with several batches",
        _BROADCASTING,
        "An elementwise operator has one constant operand with several batches, and the runtime operand has one batch.",
        "The GPU uses batch 0 of the constant for every batch.",
        "Repeat the runtime operand for each batch with TILE before the node.",
        "repeat the runtime operand for each batch with TILE",
        "the GPU reads only batch 0 of the constant {tensor} of shape {shape}, because the other operand has shape {other}",
        _constant_batches,
    ),
    NumberRule(
        "elementwise-mixed-ranks",
        Problem.SHAPE,
        "operands of different rank",
        _BROADCASTING,
        "An elementwise operator has two runtime operands of different rank. ML Drift takes the first dimension of the operand "
        "with the lower rank as the batch (LiteRT issue 8980).",
        "The GPU reads this operand at other places.",
        "Use release 2.1.6 or later. Or reshape the operand to the rank of the result, with sizes of 1 in front.",
        "use release 2.1.6 or later, or reshape the operand to the rank of the result",
        "the GPU takes the first dimension of {tensor} of shape {shape} as the batch, but the result has shape {other}",
        _mixed_ranks,
        is_before_backend=True,
        fixed_in=parse_release("litert-2.1.6"),
    ),
    NumberRule(
        "select-cond-layout",
        Problem.SHAPE,
        "condition of lower rank whose first dimension becomes the batch",
        ("SELECT", "SELECT_V2"),
        "The condition of a selection has a lower rank than the result, or other dimensions. ML Drift takes the first dimension "
        "of the condition as the batch. On the CPU, this dimension is another one.",
        "The GPU takes values of the other branch.",
        "Give the condition the rank 4 with a RESHAPE, with sizes of 1 in front.",
        "reshape the condition to rank 4, with sizes of 1 in front",
        "the GPU takes the first dimension of the condition {tensor} of shape {shape} as the batch, but the result has shape "
        "{other}",
        _condition_elsewhere,
        is_before_backend=True,
    ),
    NumberRule(
        "fused-tanh",
        Problem.ATTRIBUTE,
        "fused TANH, which the CPU ignores",
        _WITH_ACTIVATION,
        "The operator has the fused activation TANH.",
        "The GPU applies TANH as the file says. The CPU kernels ignore this activation, so CPU and GPU differ.",
        "Remove the fused activation, and put a TANH node behind the operator if TANH is meant.",
        "replace the fused activation by a node",
        "the GPU applies the fused activation TANH, and the CPU ignores it",
        _tanh,
        is_before_backend=True,
    ),
    NumberRule(
        "pow-negative",
        Problem.OPERANDS,
        "power of a negative number or of 0",
        ("POW",),
        "The base of POW can be negative, and the exponent is not a constant even integer or 3. Or the base can be 0, and the "
        "exponent is computed at run time.",
        "For a negative base, the GPU computes the power of the absolute value. For a base of 0 and an exponent near 0, the "
        "result is not 0.",
        "For a constant exponent, use MUL and RSQRT or SQRT. For other exponents, make sure that the base is positive.",
        "make sure that the base is positive, or use MUL for a constant exponent",
        "the GPU uses the absolute value of the base {tensor}, and is inaccurate for a base of 0",
        _negative_base,
        depends_on_values=True,
    ),
    NumberRule(
        "leaky-relu-alpha",
        Problem.ATTRIBUTE,
        "slope of LEAKY_RELU above 1 or below 0",
        ("LEAKY_RELU",),
        "The slope (alpha) of LEAKY_RELU is above 1 or below 0.",
        "The GPU computes the maximum of x and alpha * x. If alpha is below 0, the GPU gives 0 for negative x.",
        "Use PRELU with this slope for every channel.",
        "use PRELU with the same slope for every channel",
        "the GPU computes another function, because alpha is {alpha:g}",
        _leaky,
        depends_on_values=True,
    ),
)
