"""Arithmetic, activations, and conversions between types.

Source: ``VisitUnaryNode``, ``VisitBinaryNode`` and ``VisitSoftmaxNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, OpRule, for_each
from ..datatypes import datatype, is_normal
from .checks import (
    ATTRIBUTE,
    EIGHT_BITS,
    FLOAT16_ACTIVATIONS,
    FLOAT16_ARITHMETIC,
    FLOAT16_LAYERS,
    FLOAT32,
    FLOAT32_OR_8_BITS,
    FLOAT32_OR_INT8,
    HYBRID,
    INPUT,
    MAX_RANK,
    OUTPUT,
    QUANTIZATION,
    SHAPE,
    TENSOR_TYPE,
    Operand,
    Types,
    activation,
    check,
    constant_or_unpacked,
    counting_before,
    counting_from,
    float32_ratio,
    only_scale,
    operand,
    operands,
    shaped,
    typed,
)
from .unpacking import WIDENS_CONSTANT

_FIRST, _SECOND = operand(0, "first input"), operand(1, "second input")

_ACTIVATION_FLOAT = FLOAT32.or_float16_from(FLOAT16_ACTIVATIONS)
_FLOAT = FLOAT32.or_float16_from(FLOAT16_ARITHMETIC)
_FLOAT_OR_INT8 = FLOAT32_OR_INT8.or_float16_from(FLOAT16_ARITHMETIC)
_FLOAT_OR_8_BITS = FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_ARITHMETIC)
_SOFTMAX_FLOAT = FLOAT32.or_float16_from(FLOAT16_LAYERS)


_SHAPES_FROM = "litert-1.3.0"
"""The release from which on shapes are looked at for all operators; for which they were before is measured, not read."""


def _any_shape(which: Operand, since: str | None) -> tuple[Check, ...]:
    checks = shaped(which, 0, MAX_RANK)
    return checks if since is None else counting_from(since, *checks)


def _unary(inputs: Types, outputs: Types, *checks: Check, shapes_from: str | None = None) -> OpRule:
    return OpRule((operands(1), *_any_shape(INPUT, shapes_from), *typed(INPUT, inputs), *typed(OUTPUT, outputs), *checks))


def _binary(types: Types, *checks: Check, shapes_from: str | None = None) -> OpRule:
    return OpRule(
        (
            operands(2),
            *_any_shape(_FIRST, shapes_from),
            *_any_shape(_SECOND, shapes_from),
            *typed(_FIRST, types),
            *typed(_SECOND, types),
            *typed(OUTPUT, types),
            *checks,
        )
    )


def _mixed_types(node: NodeView) -> str | None:
    first, second, output = node.input(0).type, node.input(1).type, node.output(0).type
    return None if first == second == output else f"{first}, {second} and {output}"


_ONE_TYPE = check(HYBRID, "inputs and output of one type", _mixed_types)

_LARGEST_SCALE = 256.0
_SMALLEST_SUM_SCALE = 1.0 / 1024.0
_SMALLEST_PRODUCT_SCALE = 1.0 / 65536.0


def _sum_scale(which: Operand) -> Check:
    """``CheckTensorsInputOutputScale``."""

    def find(node: NodeView) -> str | None:
        tensor, output = which.tensor(node), node.output(0)
        if tensor.type not in ("INT8", "UINT8"):
            return None
        ratio = float32_ratio(tensor.scale, output.scale)
        return f"scale {ratio:g} times the output's" if ratio < _SMALLEST_SUM_SCALE or ratio >= _LARGEST_SCALE else None

    return check(QUANTIZATION, f"8-bit {which.name} with a scale of 1/1024 to below 256 times the output's", find)


def _product_scale(node: NodeView) -> str | None:
    """``CheckTensorsInputProductOutputScale``."""
    first, second, output = node.input(0), node.input(1), node.output(0)
    if first.type not in ("INT8", "UINT8"):
        return None
    ratio = float32_ratio(_float32_product(first, second), output.scale)
    return f"product {ratio:g} times the output's" if ratio < _SMALLEST_PRODUCT_SCALE or ratio >= _LARGEST_SCALE else None


def _float32_product(first: Tensor, second: Tensor) -> float:
    return float32_ratio(first.scale * second.scale, 1.0)


_SUM = (_ONE_TYPE, _sum_scale(_FIRST), _sum_scale(_SECOND), activation())
_PRODUCT = check(
    QUANTIZATION, "8-bit inputs with scales whose product is 1/65536 to below 256 times the output's", _product_scale
)

_SMALLEST_CONVERSION, _LARGEST_CONVERSION = 1.0 / 256.0, 128.0
_LOWEST_NEGATIVE_SCALE = -127.99609375


def _alpha(node: NodeView) -> str | None:
    return None if is_normal(node.options.alpha) else f"alpha {node.options.alpha:g}"


def _positive_scale(node: NodeView) -> float | None:
    """The ratio of usable scales, None unless both tensors have one."""
    source, output = only_scale(node.input(0)), only_scale(node.output(0))
    if source is None or output is None or not is_normal(source) or not is_normal(output):
        return None
    return float32_ratio(source, output)


def _unusable_positive_scale(node: NodeView) -> str | None:
    ratio = _positive_scale(node)
    if ratio is None or _SMALLEST_CONVERSION <= ratio <= _LARGEST_CONVERSION:
        return None
    return f"scale {ratio:g} times the output's"


def _unusable_negative_scale(node: NodeView) -> str | None:
    positive = _positive_scale(node)
    if positive is None:
        return None
    ratio = float32_ratio(positive * node.options.alpha, 1.0)
    if _LOWEST_NEGATIVE_SCALE <= ratio <= _LARGEST_CONVERSION and abs(ratio) >= _SMALLEST_CONVERSION:
        return None
    return f"scale times alpha {ratio:g} times the output's"


_LEAKY_RELU = (
    check(ATTRIBUTE, "alpha that is a normal number other than 0", _alpha),
    check(QUANTIZATION, "8-bit input with a scale of 1/256 to 128 times the output's", _unusable_positive_scale),
    check(QUANTIZATION, "the same of the scale times alpha, whatever its sign", _unusable_negative_scale),
)


def _is_requantized(node: NodeView) -> bool:
    found = datatype(node.graph, node.input(0))
    return found in ("qint8", "quint8") and found == datatype(node.graph, node.output(0))


def _unusable_requantization(node: NodeView) -> str | None:
    if not _is_requantized(node):
        return None
    source, output = only_scale(node.input(0)), only_scale(node.output(0))
    if source is None or output is None:
        return None
    ratio = float32_ratio(source, output)
    return f"scale {ratio:g} times the output's" if ratio < _SMALLEST_CONVERSION or ratio > _LARGEST_CONVERSION else None


def _unknown_conversion(node: NodeView) -> str | None:
    if _is_requantized(node) or datatype(node.graph, node.input(0)) in ("fp32", "fp16"):
        return None
    return f"{node.input(0).type} to {node.output(0).type}"


_QUANTIZE = (
    check(QUANTIZATION, "8-bit input with a scale of 1/256 to 128 times the output's", _unusable_requantization),
    check(TENSOR_TYPE, "float input, or usable 8-bit input and output of one type", _unknown_conversion),
)

_SLOPE = operand(1, "slope")


def _not_one_for_each_channel(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape and all(size == 1 for size in shape[:-1]) else f"slope {list(shape)}"


_ONE_FOR_EACH_CHANNEL = check(SHAPE, "slope of one dimension other than 1, the last", _not_one_for_each_channel)

_FLOAT_ONLY = (
    "ABS", "CEIL", "FLOOR", "HARD_SWISH", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SQRT",
)  # fmt: skip
_FLOAT_UNARY = _unary(_ACTIVATION_FLOAT, _ACTIVATION_FLOAT, shapes_from=_SHAPES_FROM)

_EXACT = check(ATTRIBUTE, "approximate false", lambda node: "approximate true" if node.options.approximate else None)

_BETA = check(ATTRIBUTE, "beta 1", lambda node: None if node.options.beta == 1 else f"beta {node.options.beta:g}")

RULES = {
    **dict.fromkeys(_FLOAT_ONLY, _FLOAT_UNARY),
    **dict.fromkeys(("COS", "EXP", "SIN"), _FLOAT_UNARY.from_release("litert-1.3.0")),
    "SQUARE": _unary(_ACTIVATION_FLOAT, _ACTIVATION_FLOAT),
    "LOG": _FLOAT_UNARY.from_release("litert-2.1.6"),
    "GELU": OpRule((*_FLOAT_UNARY.checks, _EXACT.before_release("litert-1.2.0"))),
    "DEQUANTIZE": OpRule(_unary(EIGHT_BITS, _FLOAT).checks, accepted_early=WIDENS_CONSTANT),
    "ELU": _unary(_FLOAT_OR_INT8, _FLOAT_OR_INT8, shapes_from=_SHAPES_FROM),
    **for_each(("LOGISTIC", "TANH"), *_unary(_FLOAT_OR_8_BITS, _FLOAT_OR_8_BITS, shapes_from=_SHAPES_FROM).checks),
    "LEAKY_RELU": _unary(_FLOAT_OR_8_BITS, _FLOAT_OR_8_BITS, *_LEAKY_RELU, shapes_from=_SHAPES_FROM),
    "QUANTIZE": _unary(_FLOAT_OR_8_BITS, _FLOAT_OR_8_BITS, *_QUANTIZE),
    **for_each(("ADD", "SUB"), *_binary(_FLOAT_OR_8_BITS, *_SUM).checks),
    "MUL": _binary(_FLOAT_OR_8_BITS, _ONE_TYPE, _PRODUCT, activation()),
    "DIV": _binary(_FLOAT, activation()),
    **for_each(("MAXIMUM", "MINIMUM"), *_binary(_FLOAT, shapes_from=_SHAPES_FROM).checks),
    "SQUARED_DIFFERENCE": _binary(_FLOAT),
    "PRELU": _binary(
        _FLOAT,
        *counting_before("litert-1.3.0", *shaped(INPUT, 1, MAX_RANK), _ONE_FOR_EACH_CHANNEL),
        constant_or_unpacked(_SLOPE),
        *counting_before("litert-1.3.0", *shaped(OUTPUT, 1, MAX_RANK)),
        shapes_from=_SHAPES_FROM,
    ),
    "SOFTMAX": OpRule((_BETA, operands(1), *typed(INPUT, _SOFTMAX_FLOAT), *typed(OUTPUT, _SOFTMAX_FLOAT))),
}
