"""Activations (``VisitUnaryNode``, ``VisitBinaryNode`` and ``VisitSoftmaxNode``, ``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, QUANTIZATION, SHAPE
from ....rules.number_sets import between
from ....rules.operands import OUTPUT, operand
from ....rules.vocabulary import check, option, unset
from ..datatypes import is_normal
from ..scales import float32_ratio, only_scale
from .checks import (
    INPUT,
    LARGEST_CONVERSION,
    MAX_RANK,
    SHAPES_FROM,
    SMALLEST_CONVERSION,
    binary,
    counting_before,
    operands,
    shaped,
    stored_or_unpacked,
    unary,
    xnnpack_rule,
)
from .types import (
    FLOAT,
    FLOAT16_ACTIVATIONS,
    FLOAT16_ARITHMETIC,
    FLOAT16_LAYERS,
    FLOAT_OR_8_BITS_ARITHMETIC,
    FLOAT_OR_INT8,
    of_types,
)
from .upstream import in_method

_ACTIVATION_FLOAT = FLOAT.with_float16_from(FLOAT16_ACTIVATIONS)
_FLOAT_OR_INT8 = FLOAT_OR_INT8.with_float16_from(FLOAT16_ARITHMETIC)
_SOFTMAX_FLOAT = FLOAT.with_float16_from(FLOAT16_LAYERS)

_LOWEST_NEGATIVE_SCALE = -127.99609375


def _alpha(node: NodeView) -> str | None:
    return None if is_normal(node.options.alpha) else f"alpha {node.options.alpha:g}"


def _positive_scale(node: NodeView) -> float | None:
    """Return the input scale divided by the output scale. If a tensor does not have a single normal scale, return None."""
    source, output = only_scale(node.input(0)), only_scale(node.output(0))
    if source is None or output is None or not is_normal(source) or not is_normal(output):
        return None
    return float32_ratio(source, output)


def _unusable_positive_scale(node: NodeView) -> str | None:
    ratio = _positive_scale(node)
    if ratio is None or SMALLEST_CONVERSION <= ratio <= LARGEST_CONVERSION:
        return None
    return f"input scale / output scale = {ratio:g}"


def _unusable_negative_scale(node: NodeView) -> str | None:
    positive = _positive_scale(node)
    if positive is None:
        return None
    ratio = float32_ratio(positive * node.options.alpha, 1.0)
    if _LOWEST_NEGATIVE_SCALE <= ratio <= LARGEST_CONVERSION and abs(ratio) >= SMALLEST_CONVERSION:
        return None
    return f"input scale * alpha / output scale = {ratio:g}"


def _not_one_for_each_channel(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape and all(size == 1 for size in shape[:-1]) else f"slope of shape {list(shape)}"


_SLOPE_SHAPE = check(SHAPE, "a slope with size 1 in all dimensions except the last", _not_one_for_each_channel)
_AT_LEAST_VECTOR = between(1, MAX_RANK)

_UNARY = unary(_ACTIVATION_FLOAT, _ACTIVATION_FLOAT, shapes_from=SHAPES_FROM)
_SIGMOID = unary(FLOAT_OR_8_BITS_ARITHMETIC, FLOAT_OR_8_BITS_ARITHMETIC, shapes_from=SHAPES_FROM)

RULES = {
    "ELU": unary(_FLOAT_OR_INT8, _FLOAT_OR_INT8, shapes_from=SHAPES_FROM),
    "GELU": unary(
        _ACTIVATION_FLOAT,
        _ACTIVATION_FLOAT,
        unset("approximate", hint="convert with the exact GELU").before_release("litert-1.2.0"),
        shapes_from=SHAPES_FROM,
    ),
    "HARD_SWISH": _UNARY,
    "LEAKY_RELU": unary(
        FLOAT_OR_8_BITS_ARITHMETIC,
        FLOAT_OR_8_BITS_ARITHMETIC,
        check(ATTRIBUTE, "an alpha that is a finite, normal number other than 0", _alpha),
        check(
            QUANTIZATION,
            "input scale / output scale from 1/256 to 128 for 8-bit types",
            _unusable_positive_scale,
            data=("scale to the output's", SMALLEST_CONVERSION, LARGEST_CONVERSION),
        ),
        check(
            QUANTIZATION,
            "input scale * alpha / output scale from 1/256 to 128, or from -128 to -1/256, for 8-bit types",
            _unusable_negative_scale,
            data=("scale times alpha to the output's", SMALLEST_CONVERSION, LARGEST_CONVERSION, _LOWEST_NEGATIVE_SCALE),
        ),
        shapes_from=SHAPES_FROM,
    ),
    "LOGISTIC": _SIGMOID,
    "PRELU": binary(
        FLOAT.with_float16_from(FLOAT16_ARITHMETIC),
        *counting_before("litert-1.3.0", *in_method("VisitBinaryNode", *shaped(INPUT, _AT_LEAST_VECTOR), _SLOPE_SHAPE)),
        stored_or_unpacked(operand(1, "slope")),
        *counting_before("litert-1.3.0", *in_method("VisitBinaryNode", *shaped(OUTPUT, _AT_LEAST_VECTOR))),
        shapes_from=SHAPES_FROM,
    ),
    "RELU": _UNARY,
    "RELU6": _UNARY,
    "RELU_N1_TO_1": _UNARY,
    "SOFTMAX": xnnpack_rule(
        "VisitSoftmaxNode",
        option("beta", 1),
        operands(1),
        *of_types(INPUT, _SOFTMAX_FLOAT),
        *of_types(OUTPUT, _SOFTMAX_FLOAT),
    ),
    "TANH": _SIGMOID,
}
