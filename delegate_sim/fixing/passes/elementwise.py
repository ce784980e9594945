"""Rewrite element-wise operators and reductions as simpler operators."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from ...foundation.late_numpy import np
from ...model import schema
from ...model.model import Node
from ..pass_workspace import Work
from .base import FINITE, Exactness, node_pass

_SMALL_INTEGERS = ("INT8", "UINT8")
_RELU6 = 3
_POOL_VALID = 1

_BINARY = frozenset({"DIV", "SQUARED_DIFFERENCE", "SUB"})
"""The binary operators that this module rewrites. All other operators here have one operand."""


def _is_float(work: Work, node: Node) -> bool:
    if (len(node.inputs), len(node.outputs)) != (2 if node.op in _BINARY else 1, 1):
        return False
    return all(work.tensor(index).type == "FLOAT32" for index in (*node.inputs, *node.outputs))


def _scalar(work: Work, node: Node, value: float) -> int:
    return work.constant(f"{work.output(node).name}/{value:g}", "FLOAT32", value)


def _is_tanh_gelu(work: Work, node: Node) -> bool:
    return _is_float(work, node) and bool(work.options(node).approximate)


def _is_erf_gelu(work: Work, node: Node) -> bool:
    return _is_float(work, node) and not work.options(node).approximate


def _gelu(work: Work, node: Node) -> Sequence[Node]:
    """Return the nodes that compute 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))."""
    (x,), (y,) = node.inputs, node.outputs
    like = work.output(node)
    square, cube, scaled, sum_, inner, bent, half = [
        work.result(like, label) for label in ("square", "cube", "scaled", "sum", "inner", "tanh", "half")
    ]
    factor = work.result(like, "factor")
    return [
        work.node("MUL", [x, x], [square]),
        work.node("MUL", [square, x], [cube]),
        work.node("MUL", [cube, _scalar(work, node, 0.044715)], [scaled]),
        work.node("ADD", [x, scaled], [sum_]),
        work.node("MUL", [sum_, _scalar(work, node, math.sqrt(2 / math.pi))], [inner]),
        work.node("TANH", [inner], [bent]),
        work.node("ADD", [bent, _scalar(work, node, 1)], [factor]),
        work.node("MUL", [x, _scalar(work, node, 0.5)], [half]),
        work.node("MUL", [half, factor], [y]),
    ]


_ERF_SLOPE = 0.3275911 / math.sqrt(2)
_ERF_TERMS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
"""Coefficients of an approximation of the error function, accurate to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""


def _gelu_by_exponential(work: Work, node: Node) -> Sequence[Node]:
    """Return the nodes that compute relu(x) - |x| / 2 (1 - erf(|x| / sqrt 2)).

    The factor 1 - erf(...) is a polynomial in t = 1 / (1 + p |x|), multiplied by exp(-x x / 2).
    """
    like, (x,) = work.output(node), node.inputs
    nodes: list[Node] = []

    def step(op: str, label: str, *operands: int | float) -> int:
        result = work.result(like, f"{label}_{len(nodes)}")
        inputs = [_scalar(work, node, operand) if isinstance(operand, float) else operand for operand in operands]
        nodes.append(work.node(op, inputs, [result]))
        return result

    size = step("ABS", "abs", x)
    t = step("DIV", "t", 1.0, step("ADD", "sum", step("MUL", "scaled", size, _ERF_SLOPE), 1.0))
    term = step("MUL", "term", t, _ERF_TERMS[0] / 2)
    for factor in _ERF_TERMS[1:]:
        term = step("MUL", "term", step("ADD", "term", term, factor / 2), t)
    bell = step("EXP", "bell", step("MUL", "exponent", step("MUL", "square", x, x), -0.5))
    tail = step("MUL", "tail", step("MUL", "tail", term, bell), size)
    positive = step("RELU", "relu", x)
    return [*nodes, work.node("SUB", [positive, tail], node.outputs)]


def _hard_swish(work: Work, node: Node) -> Sequence[Node]:
    like = work.output(node)
    shifted, product = work.result(like, "relu6"), work.result(like, "product")
    return [
        work.node("ADD", [node.inputs[0], _scalar(work, node, 3)], [shifted], fused_activation_function=_RELU6),
        work.node("MUL", [node.inputs[0], shifted], [product]),
        work.node("MUL", [product, _scalar(work, node, 1 / 6)], node.outputs),
    ]


def _squared_difference(work: Work, node: Node) -> Sequence[Node]:
    difference = work.result(work.output(node), "difference")
    return [work.node("SUB", node.inputs, [difference]), work.node("MUL", [difference, difference], node.outputs)]


def _square(work: Work, node: Node) -> Sequence[Node]:
    return [work.node("MUL", [node.inputs[0]] * 2, node.outputs)]


def _neg(work: Work, node: Node) -> Sequence[Node]:
    return [work.node("MUL", [node.inputs[0], _scalar(work, node, -1)], node.outputs)]


def _sub(work: Work, node: Node) -> Sequence[Node] | None:
    if work.input(node, 0).is_constant:
        return None
    activation = work.options(node).fused_activation_function
    second, nodes = work.input(node, 1), []
    values = work.values(second)
    if values is not None:
        negative = work.constant(f"{second.name}/negative", "FLOAT32", -values)
    else:
        negative = work.result(second, "negative")
        nodes.append(work.node("MUL", [second.index, _scalar(work, node, -1)], [negative]))
    added = work.node("ADD", [node.inputs[0], negative], node.outputs, fused_activation_function=activation)
    return [*nodes, added]


def _div(work: Work, node: Node) -> Sequence[Node] | None:
    divisor = work.values(work.input(node, 1))
    if divisor is None or not divisor.all() or work.input(node, 0).is_constant:
        return None
    reciprocal = work.constant(f"{work.input(node, 1).name}/reciprocal", "FLOAT32", 1 / divisor.astype("f8"))
    activation = work.options(node).fused_activation_function
    return [work.node("MUL", [node.inputs[0], reciprocal], node.outputs, fused_activation_function=activation)]


def _rsqrt(work: Work, node: Node) -> Sequence[Node]:
    root = work.result(work.output(node), "root")
    return [
        work.node("SQRT", node.inputs, [root]),
        work.node("DIV", [_scalar(work, node, 1), root], node.outputs),
    ]


def _leaky_relu(work: Work, node: Node) -> Sequence[Node] | None:
    slope = work.options(node).alpha
    if not 0 <= slope <= 1:
        return None
    scaled = work.result(work.output(node), "scaled")
    return [
        work.node("MUL", [node.inputs[0], _scalar(work, node, slope)], [scaled]),
        work.node("MAXIMUM", [node.inputs[0], scaled], node.outputs),
    ]


def _relu_0_to_1_by_limits(work: Work, node: Node) -> Sequence[Node] | None:
    if not _is_float(work, node):
        return _quantized_limits(work, node)
    positive = work.result(work.output(node), "positive")
    return [
        work.node("MAXIMUM", [node.inputs[0], _scalar(work, node, 0)], [positive]),
        work.node("MINIMUM", [positive, _scalar(work, node, 1)], node.outputs),
    ]


def _quantized_limits(work: Work, node: Node) -> Sequence[Node] | None:
    source, target = work.input(node, 0), work.output(node)
    is_same = (source.type, source.scale, source.zero_point) == (target.type, target.scale, target.zero_point)
    if (
        (len(node.inputs), len(node.outputs)) != (1, 1)
        or source.type not in _SMALL_INTEGERS
        or not is_same
        or not source.scale > 0
    ):
        return None
    if source.is_constant or work.is_open(source, target):
        return None
    held = np.iinfo(schema.NUMPY_TYPES[source.type])
    zero, one = [source.zero_point + _rounded(np.float32(limit) / np.float32(source.scale)) for limit in (0, 1)]
    if not held.min <= zero <= held.max:
        return None
    steps = [("MAXIMUM", zero)] if zero > held.min else []
    steps += [("MINIMUM", one)] if one < held.max else []
    nodes, operand = [], node.inputs[0]
    for number, (op, limit) in enumerate(steps, 1):
        bound = work.constant(f"{target.name}/{op.lower()}", source.type, limit, source.quantization)
        result = node.outputs[0] if number == len(steps) else work.result(target, "positive")
        nodes.append(work.node(op, [operand, bound], [result]))
        operand = result
    return nodes or [work.reshape(operand, node.outputs[0])]


def _rounded(value: np.float32) -> int:
    """Round to the nearest integer. Halves are rounded up, as ``roundf`` does for numbers that are not negative."""
    return math.floor(float(value) + 0.5)


def _relu_0_to_1_by_relu6(work: Work, node: Node) -> Sequence[Node]:
    wide = work.result(work.output(node), "relu6")
    return [
        work.node("MUL", [node.inputs[0], _scalar(work, node, 6)], [wide], fused_activation_function=_RELU6),
        work.node("MUL", [wide, _scalar(work, node, 1 / 6)], node.outputs),
    ]


def axes_of(work: Work, node: Node) -> list[int] | None:
    """Return the sorted axes of a reduction. Return None if they are not constant, or not valid."""
    values, rank = work.integers(work.input(node, 1)), work.input(node, 0).rank
    if values is None or not rank:
        return None
    axes = sorted({int(axis) % rank for axis in values.reshape(-1)})
    return axes if axes and all(-rank <= int(axis) < rank for axis in values.reshape(-1)) else None


def _mean_one_by_one(work: Work, node: Node) -> Sequence[Node] | None:
    """Return one MEAN for each axis, beginning with the last axis.

    Each MEAN keeps the number of dimensions. If the original node removes dimensions, a RESHAPE follows.
    """
    axes = axes_of(work, node)
    source, target = work.input(node, 0), work.output(node)
    if axes is None or len(axes) < 2 or not source.type == target.type == "FLOAT32" or work.is_open(source, target):
        return None
    keeps = bool(work.options(node).keep_dims)
    nodes, shape, operand = [], list(source.shape), node.inputs[0]
    for axis in axes[::-1]:
        shape[axis] = 1
        is_last = axis == axes[0]
        result = node.outputs[0] if is_last and keeps else work.result(target, f"over_{axis}", shape)
        index = work.constant(f"{target.name}/axis_{axis}", "INT32", [axis])
        nodes.append(work.node("MEAN", [operand, index], [result], keep_dims=True))
        operand = result
    return nodes if keeps else [*nodes, work.reshape(operand, node.outputs[0])]


def _mean_as_pool(work: Work, node: Node) -> Sequence[Node] | None:
    source, target = work.input(node, 0), work.output(node)
    if axes_of(work, node) != [1, 2] or source.rank != 4 or work.is_open(source, target):
        return None
    if not source.type == target.type == "FLOAT32":
        return None
    batch, height, width, depth = source.shape
    keeps = bool(work.options(node).keep_dims)
    result = node.outputs[0] if keeps else work.result(target, "pooled", (batch, 1, 1, depth))
    pool = work.node(
        "AVERAGE_POOL_2D",
        [node.inputs[0]],
        [result],
        padding=_POOL_VALID,
        stride_w=1,
        stride_h=1,
        filter_width=width,
        filter_height=height,
    )
    return [pool] if keeps else [pool, work.reshape(result, node.outputs[0])]


_float_pass = functools.partial(node_pass, requires=_is_float)

PASSES = (
    _float_pass("square-as-mul", "SQUARE", Exactness.EXACT, _square, FINITE),
    _float_pass("neg-as-mul", "NEG", Exactness.EXACT, _neg, FINITE),
    _float_pass("squared-difference-as-sub-mul", "SQUARED_DIFFERENCE", Exactness.EXACT, _squared_difference, FINITE),
    _float_pass("sub-as-add", "SUB", Exactness.EXACT, _sub, FINITE),
    _float_pass("div-as-mul", "DIV", Exactness.ROUNDING, _div),
    _float_pass("rsqrt-as-sqrt-div", "RSQRT", Exactness.ROUNDING, _rsqrt),
    _float_pass("leaky-relu-as-maximum", "LEAKY_RELU", Exactness.EXACT, _leaky_relu, FINITE),
    node_pass("relu-0-to-1-as-limits", "RELU_0_TO_1", Exactness.EXACT, _relu_0_to_1_by_limits, FINITE),
    _float_pass("relu-0-to-1-by-relu6", "RELU_0_TO_1", Exactness.ROUNDING, _relu_0_to_1_by_relu6),
    _float_pass("hard-swish-written-out", "HARD_SWISH", Exactness.ROUNDING, _hard_swish),
    node_pass("gelu-written-out", "GELU", Exactness.ROUNDING, _gelu, requires=_is_tanh_gelu),
    node_pass("gelu-by-exponential", "GELU", Exactness.ROUNDING, _gelu_by_exponential, requires=_is_erf_gelu),
    node_pass("gelu-approximated", "GELU", Exactness.APPROXIMATE, _gelu, requires=_is_erf_gelu),
    node_pass("mean-as-pool", "MEAN", Exactness.ROUNDING, _mean_as_pool),
    node_pass("mean-one-axis-at-a-time", "MEAN", Exactness.ROUNDING, _mean_one_by_one),
)
