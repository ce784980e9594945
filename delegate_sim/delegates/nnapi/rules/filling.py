"""Filling, repeating and counting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....model.numbers import bounds
from ....rules.hints import in_code
from ....rules.kinds import OPERAND_VALUE
from ....rules.operands import INPUT, operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import constant, refused_if, typed
from ..kinds import UNSUPPORTED_INPUT_TYPE
from ..target import NNAPI_1_2, NNAPI_1_3, NnapiTarget
from .checks import FLOAT, FLOAT_QUANT8_INT32, INT32, min_level, op_version, type_in

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
_INDICES = ("INT32", "INT64")


def _fits_int32(node: NodeView, tensor: Tensor) -> bool:
    value = node.value(tensor)
    return value is not None and (not len(value) or _LOWEST <= bounds(value)[0] <= bounds(value)[1] <= _HIGHEST)


def _fills_scalar(node: NodeView) -> bool:
    dimensions = node.input(0)
    return dimensions.is_constant and dimensions.shape[:1] == (0,)


def _is_large_int64(node: NodeView, tensor: Tensor) -> bool:
    return tensor.is_constant and tensor.type == "INT64" and not _fits_int32(node, tensor)


RULES: Rules[NnapiTarget] = {
    "FILL": OpRule(
        (
            op_version(1),
            min_level(NNAPI_1_3),
            constant(operand(0, "shape")).reported_as(UNSUPPORTED_INPUT_TYPE),
            type_in(operand(0, "shape"), _INDICES),
            refused_if(
                OPERAND_VALUE,
                "a result with dimensions",
                _fills_scalar,
                "no dimensions",
                "use a constant instead of a scalar FILL",
            ),
            refused_if(
                OPERAND_VALUE,
                "dimensions that fit INT32",
                lambda node: _is_large_int64(node, node.input(0)),
                "dimensions beyond INT32",
                "use dimensions that fit INT32",
            ),
            type_in(operand(1, "value"), (*FLOAT, *_INDICES)),
            refused_if(
                OPERAND_VALUE,
                "a value that fits INT32",
                lambda node: _is_large_int64(node, node.input(1)),
                "a value beyond INT32",
                "use a value that fits INT32",
            ).reported_as(UNSUPPORTED_INPUT_TYPE),
        )
    ),
    "TILE": OpRule(
        (
            op_version(1),
            min_level(NNAPI_1_2),
            type_in(INPUT, FLOAT_QUANT8_INT32),
            typed(operand(1, "list of multiples"), INT32, hint=in_code("use INT32 multiples")),
        )
    ),
}
