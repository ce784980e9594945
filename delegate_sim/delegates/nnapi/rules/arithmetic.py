"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

from ....graph.activation import fused_activation
from ....graph.graph import NodeView
from ....rules.hints import by_reshape
from ....rules.kinds import ACTIVATION, BROADCAST, CONSTANT, RANK
from ....rules.operands import INPUT, Operand, operand
from ....rules.rule import Check, OpRule, Rules
from ....rules.vocabulary import check, typed
from ..kinds import UNSUPPORTED_INPUT_TYPE
from ..target import FEATURE_LEVEL_7, NNAPI_1_1, NNAPI_1_2, NNAPI_1_3, NnapiTarget, below_level, from_level, with_accelerator
from .checks import (
    FLOAT,
    FLOAT_INT32,
    FLOAT_OPERAND,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8,
    level_demand,
    max_op_version,
    min_level,
    op_version,
    type_in,
)

_MAX_RANK = 4


def _constant_if_scalar(which: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        return f"{which.name} is a scalar and not constant" if not tensor.rank and not tensor.is_constant else None

    hint = "give the operand the shape [1], or make it a constant"
    return check(CONSTANT, f"a constant {which.name} if it is a scalar", find, hint).reported_as(UNSUPPORTED_INPUT_TYPE)


def _shape_unlike_condition(node: NodeView) -> str | None:
    condition, value = node.input(0).shape, node.input(1).shape
    return None if condition == value else f"condition {list(condition)}, value {list(value)}"


def _large_rank(node: NodeView) -> str | None:
    highest = max(node.input(0).rank, node.input(1).rank)
    return None if highest <= _MAX_RANK else f"inputs of rank up to {highest}"


def _fused_with_int32(node: NodeView) -> str | None:
    function = fused_activation(node)
    return f"fused {function}" if node.input(0).type == "INT32" and function != "NONE" else None


_RANKS = check(RANK, f"inputs 0 and 1 of rank at most {_MAX_RANK}", _large_rank, by_reshape("fold dimensions with RESHAPE"))
_NO_ACTIVATION_OF_INT32 = check(ACTIVATION, "no fused activation if the operands are INT32", _fused_with_int32)

_SUM = (
    FLOAT_QUANT8_INT32_OPERAND.when(from_level(NNAPI_1_3)),
    _NO_ACTIVATION_OF_INT32.when(from_level(NNAPI_1_3)),
    FLOAT_QUANT8_OPERAND.when(below_level(NNAPI_1_3)),
    _RANKS.from_release("tf-2.12"),
)
_FLOAT_FUNCTION = OpRule((op_version(1), min_level(NNAPI_1_2), FLOAT_OPERAND))
_LOGIC = OpRule((op_version(1), min_level(NNAPI_1_2), typed(INPUT, ("BOOL",))))
_COMPARISON = OpRule((max_op_version(2), min_level(NNAPI_1_2), type_in(INPUT, (*FLOAT_QUANT8_INT32, "BOOL"))))
_EXTREMUM = OpRule(
    (
        max_op_version(3),
        min_level(NNAPI_1_2),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        _constant_if_scalar(INPUT),
        _constant_if_scalar(operand(1)),
    )
)

RULES: Rules[NnapiTarget] = {
    "ABS": _FLOAT_FUNCTION,
    "ADD": OpRule((max_op_version(2), *_SUM)),
    "COS": _FLOAT_FUNCTION.from_release("tf-2.12"),
    "DIV": OpRule((op_version(1), min_level(NNAPI_1_1), typed(INPUT, FLOAT), _RANKS.from_release("tf-2.12"))),
    "EQUAL": _COMPARISON,
    "EXP": _FLOAT_FUNCTION,
    "FLOOR": OpRule((op_version(1),)),
    "GREATER": _COMPARISON,
    "GREATER_EQUAL": _COMPARISON,
    "LESS": _COMPARISON,
    "LESS_EQUAL": _COMPARISON,
    "LOG": _FLOAT_FUNCTION,
    "LOGICAL_AND": _LOGIC,
    "LOGICAL_NOT": _LOGIC,
    "LOGICAL_OR": _LOGIC,
    "MAXIMUM": _EXTREMUM,
    "MINIMUM": _EXTREMUM,
    "MUL": OpRule((max_op_version(3).when(with_accelerator(True)), max_op_version(2).when(with_accelerator(False)), *_SUM)),
    "NEG": OpRule((max_op_version(2), min_level(NNAPI_1_2), type_in(INPUT, FLOAT_INT32))),
    "NOT_EQUAL": _COMPARISON,
    "POW": _FLOAT_FUNCTION,
    "RSQRT": OpRule(
        (
            op_version(2),
            min_level(NNAPI_1_2),
            FLOAT_OPERAND.when(below_level(FEATURE_LEVEL_7)),
            FLOAT_QUANT8_OPERAND.when(from_level(FEATURE_LEVEL_7)),
        )
    ),
    "SELECT": OpRule(
        (
            max_op_version(2),
            min_level(NNAPI_1_2),
            type_in(operand(1), FLOAT_QUANT8_INT32),
            check(
                BROADCAST,
                "a condition of the same shape as the values",
                _shape_unlike_condition,
                "give the condition the same shape as the values",
            ),
        )
    ),
    "SIN": _FLOAT_FUNCTION,
    "SQRT": _FLOAT_FUNCTION,
    "SQUARED_DIFFERENCE": OpRule(
        (
            op_version(2),
            min_level(NNAPI_1_1),
            type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
            type_in(INPUT, FLOAT_UINT8).when(from_level(NNAPI_1_2)).when(below_level(NNAPI_1_3)),
            type_in(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
            _RANKS,
        )
    ),
    "SUB": OpRule(
        (
            max_op_version(3),
            # If the feature level has no subtraction, the delegate reports the type instead.
            level_demand(NNAPI_1_1).reported_as(UNSUPPORTED_INPUT_TYPE),
            typed(INPUT, FLOAT).when(from_level(NNAPI_1_1)).when(below_level(NNAPI_1_2)),
            typed(INPUT, FLOAT_QUANT8).when(from_level(NNAPI_1_2)).when(below_level(NNAPI_1_3)),
            typed(INPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
            _NO_ACTIVATION_OF_INT32,
            _RANKS,
        )
    ),
}
