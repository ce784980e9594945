"""Wrong numbers of elementwise nodes.

A constant operand keeps another place in ML Drift's four axes than the runtime operand if their ranks or shapes differ. Most
wrong numbers come from this difference.
"""

from __future__ import annotations

from ....graph.graph import NodeView, fused_activation
from ....model.model import Tensor
from ....model.numbers import FlatNumbers, fact_of, fulfill
from ....releases.catalogue import parse_release
from ..shapes import Bhwc, axes_of, bhwc, filled
from .rule import Affected, GraphPart, is_never_negative, is_positive, number_rule

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


def moved(tensor: Tensor, result: Tensor) -> Affected | None:
    """Find a runtime operand whose elements the GPU reads at other places than the CPU."""
    is_elsewhere = is_read_elsewhere(tensor.shape, bhwc(tensor.shape), result.shape)
    return Affected(tensor, {"other": list(result.shape)}) if is_elsewhere else None


def constant_layout(constant: Tensor) -> Bhwc:
    """Return the sizes of a constant operand along the GPU's axes.

    Float and quantized constants are aligned to the last axis. Other constants of several elements keep their own axes.
    """
    if constant.element_count == 1:
        return Bhwc(1, 1, 1, 1)
    if constant.type not in ("FLOAT32", "FLOAT16") and constant.quantization is None:
        return bhwc(constant.shape)
    return aligned(constant.shape)


def aligned(shape: tuple[int, ...]) -> Bhwc:
    """Return the sizes of a tensor whose last dimension becomes the channels, as broadcasting aligns shapes."""
    return Bhwc(*((1,) * (4 - len(shape)) + shape)[-4:])


def _constant_and_other(node: NodeView) -> tuple[Tensor, Tensor] | None:
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
    return None if operands is None else moved(operands[1], node.output(0))


def _constant_batches(node: NodeView, part: GraphPart) -> Affected | None:
    operands = _constant_and_other(node)
    if operands is None or constant_layout(operands[0]).b == 1 or bhwc(operands[1].shape).b > 1:
        return None
    if _constant_elsewhere(node, part) or _operand_elsewhere(node, part):
        return None
    return Affected(operands[0], {"other": list(operands[1].shape)})


def runtime_operands(node: NodeView) -> tuple[Tensor, Tensor] | None:
    """Return the two operands that are computed at run time, or None."""
    inputs, rank = node.inputs, node.output(0).rank
    if len(inputs) != 2 or rank > 4 or any(tensor.is_constant or tensor.rank > rank for tensor in inputs):
        return None
    return inputs[0], inputs[1]


def takes_place_of(second: Bhwc, first: Bhwc) -> bool:
    """Return whether ADD and MUL read the second operand as the first one, because it seems to be larger."""
    return first.h <= second.h and first.w <= second.w and first.c == second.c


def _mixed_ranks(node: NodeView, part: GraphPart) -> Affected | None:
    operands = runtime_operands(node)
    if operands is None or operands[0].rank == operands[1].rank:
        return None
    first, second = (tensor.shape for tensor in operands)
    if aligned(first) == aligned(second) or not takes_place_of(bhwc(second), bhwc(first)):
        return None
    return Affected(min(operands, key=lambda tensor: tensor.rank), {"other": list(node.output(0).shape)})


def _condition_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    condition, result = node.input(0), node.output(0)
    # A condition of SELECT may have one element for each batch.
    is_of_batches = condition.element_count == 1 or (node.op == "SELECT" and condition.rank == 1)
    return None if is_of_batches or result.rank > 4 or condition.rank > result.rank else moved(condition, result)


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


RULES = (
    number_rule("elementwise-const-layout", _BROADCASTING, _constant_elsewhere, is_before_backend=True),
    number_rule("elementwise-runtime-layout", _BROADCASTING, _operand_elsewhere, is_before_backend=True),
    number_rule("elementwise-const-batch", _BROADCASTING, _constant_batches),
    number_rule(
        "elementwise-mixed-ranks", ("ADD", "MUL"), _mixed_ranks, is_before_backend=True, fixed_in=parse_release("litert-2.1.6")
    ),
    number_rule("select-cond-layout", ("SELECT", "SELECT_V2"), _condition_elsewhere, is_before_backend=True),
    number_rule(
        "fused-tanh",
        _WITH_ACTIVATION,
        lambda node, _: Affected(node.output(0)) if fused_activation(node) == "TANH" else None,
        is_before_backend=True,
    ),
    number_rule("pow-negative", ("POW",), _negative_base, depends_on_values=True),
    number_rule("leaky-relu-alpha", ("LEAKY_RELU",), _leaky, depends_on_values=True),
)
