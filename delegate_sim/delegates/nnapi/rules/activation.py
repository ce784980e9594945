"""Activation functions and normalization."""

from __future__ import annotations

from ....rules.number_sets import at_most, exactly
from ....rules.operands import INPUT, OUTPUT
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import rank, typed
from ..kinds import UNSUPPORTED_OPERATOR_VARIANT
from ..target import NNAPI_1_2, NNAPI_1_3, NnapiTarget, below_level, from_level
from .checks import (
    FLOAT,
    FLOAT_OPERAND,
    FLOAT_QUANT8,
    FLOAT_QUANT8_OPERAND,
    NO_ACTIVATION,
    max_op_version,
    min_level,
    op_version,
    type_in,
)

_CLAMPED = OpRule((max_op_version(2), FLOAT_QUANT8_OPERAND))
_SLOPED = OpRule((op_version(1), min_level(NNAPI_1_2), type_in(INPUT, FLOAT_QUANT8)))

RULES: Rules[NnapiTarget] = {
    "ELU": OpRule((op_version(1), min_level(NNAPI_1_3), typed(INPUT, FLOAT))),
    "HARD_SWISH": OpRule((FLOAT_QUANT8_OPERAND,)),
    "L2_NORMALIZATION": OpRule(
        (
            max_op_version(2),
            FLOAT_OPERAND.when(below_level(NNAPI_1_2)),
            rank(INPUT, 4, hint="reshape to four dimensions, or use NNAPI 1.2")
            .reported_as(UNSUPPORTED_OPERATOR_VARIANT)
            .when(below_level(NNAPI_1_2)),
            NO_ACTIVATION,
        )
    ),
    "LEAKY_RELU": _SLOPED,
    "LOCAL_RESPONSE_NORMALIZATION": OpRule((op_version(1),)),
    "LOGISTIC": _CLAMPED,
    "LOG_SOFTMAX": OpRule((op_version(1), min_level(NNAPI_1_2), typed(INPUT, FLOAT))),
    "PRELU": _SLOPED,
    "RELU": _CLAMPED,
    "RELU6": _CLAMPED,
    "RELU_N1_TO_1": _CLAMPED,
    "SOFTMAX": OpRule(
        (
            op_version(2),
            FLOAT_QUANT8_OPERAND,
            type_in(OUTPUT, FLOAT_QUANT8),
            rank(INPUT, at_most(4)),
            rank(INPUT, exactly(2, 4), hint="reshape to two or four dimensions, or use NNAPI 1.2").when(below_level(NNAPI_1_2)),
        )
    ),
    "TANH": OpRule(
        (
            max_op_version(2),
            typed(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
            typed(INPUT, FLOAT_QUANT8).when(from_level(NNAPI_1_2)),
        )
    ),
}
