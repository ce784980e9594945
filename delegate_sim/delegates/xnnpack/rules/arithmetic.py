"""Elementwise arithmetic (``VisitUnaryNode`` and ``VisitBinaryNode``, ``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import HYBRID, QUANTIZATION
from ....rules.operands import Operand
from ....rules.rule import Check
from ....rules.vocabulary import check
from ..scales import EIGHT_BIT_TYPES, float32_ratio
from .checks import BOUNDING_ACTIVATION, FIRST, SECOND, SHAPES_FROM, binary, unary
from .types import FLOAT, FLOAT16_ACTIVATIONS, FLOAT16_ARITHMETIC, FLOAT_OR_8_BITS_ARITHMETIC
from .upstream import method

_UNARY_FLOAT = FLOAT.with_float16_from(FLOAT16_ACTIVATIONS)
_FLOAT = FLOAT.with_float16_from(FLOAT16_ARITHMETIC)

_LARGEST_SCALE = 256.0
_SMALLEST_SUM_SCALE = 1.0 / 1024.0
_SMALLEST_PRODUCT_SCALE = 1.0 / 65536.0


def _mixed_types(node: NodeView) -> str | None:
    first, second, output = node.input(0).type, node.input(1).type, node.output(0).type
    return None if first == second == output else f"{first}, {second} and {output}"


_ONE_TYPE = check(HYBRID, "the same type in all inputs and the output", _mixed_types)


def _sum_scale(which: Operand) -> Check[object]:
    """Require that operand scale / output scale is in the supported range (``CheckTensorsInputOutputScale``)."""

    def find(node: NodeView) -> str | None:
        tensor, output = which.tensor(node), node.output(0)
        if tensor.type not in EIGHT_BIT_TYPES:
            return None
        ratio = float32_ratio(tensor.scale, output.scale)
        return (
            (f"{which.name} scale / output scale = {ratio:g}") if ratio < _SMALLEST_SUM_SCALE or ratio >= _LARGEST_SCALE else None
        )

    needed = f"{which.name} scale / output scale from 1/1024 to below 256 for 8-bit types"
    data = ("scale to the output's", *which.data, _SMALLEST_SUM_SCALE, _LARGEST_SCALE)
    return check(QUANTIZATION, needed, find, data=data).from_source(method("CheckTensorsInputOutputScale"))


def _product_scale(node: NodeView) -> str | None:
    first, second, output = node.input(0), node.input(1), node.output(0)
    if first.type not in EIGHT_BIT_TYPES:
        return None
    ratio = float32_ratio(_float32_product(first, second), output.scale)
    return (
        (f"product of the input scales / output scale = {ratio:g}")
        if ratio < _SMALLEST_PRODUCT_SCALE or ratio >= _LARGEST_SCALE
        else None
    )


def _float32_product(first: Tensor, second: Tensor) -> float:
    return float32_ratio(first.scale * second.scale, 1.0)


_PRODUCT = check(
    QUANTIZATION,
    "product of the input scales / output scale from 1/65536 to below 256 for 8-bit types",
    _product_scale,
    data=("product of scales to the output's", _SMALLEST_PRODUCT_SCALE, _LARGEST_SCALE),
).from_source(method("CheckTensorsInputProductOutputScale"))

_UNARY = unary(_UNARY_FLOAT, _UNARY_FLOAT, shapes_from=SHAPES_FROM)
_NEWER_UNARY = _UNARY.from_release("litert-1.3.0")
_SUM = binary(FLOAT_OR_8_BITS_ARITHMETIC, _ONE_TYPE, _sum_scale(FIRST), _sum_scale(SECOND), BOUNDING_ACTIVATION)
_EXTREMUM = binary(_FLOAT, shapes_from=SHAPES_FROM)

RULES = {
    "ABS": _UNARY,
    "ADD": _SUM,
    "CEIL": _UNARY,
    "COS": _NEWER_UNARY,
    "DIV": binary(_FLOAT, BOUNDING_ACTIVATION),
    "EXP": _NEWER_UNARY,
    "FLOOR": _UNARY,
    "LOG": _UNARY.from_release("litert-2.1.6"),
    "MAXIMUM": _EXTREMUM,
    "MINIMUM": _EXTREMUM,
    "MUL": binary(FLOAT_OR_8_BITS_ARITHMETIC, _ONE_TYPE, _PRODUCT, BOUNDING_ACTIVATION),
    "NEG": _UNARY,
    "ROUND": _UNARY,
    "RSQRT": _UNARY,
    "SIN": _NEWER_UNARY,
    "SQRT": _UNARY,
    "SQUARE": unary(_UNARY_FLOAT, _UNARY_FLOAT),
    "SQUARED_DIFFERENCE": binary(_FLOAT),
    "SUB": _SUM,
}
