"""Slicing, writing of slices, and reversal."""

from __future__ import annotations

from ....rules.hints import in_code
from ....rules.operands import INPUT, operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import operand_count, typed
from ..target import FEATURE_LEVEL_7, NNAPI_1_1, NNAPI_1_2, NnapiTarget
from .checks import (
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    INT32,
    max_op_version,
    min_level,
    type_in,
)

RULES: Rules[NnapiTarget] = {
    "REVERSE_V2": OpRule((max_op_version(3), min_level(FEATURE_LEVEL_7), FLOAT_QUANT8_INT32_OPERAND, operand_count(2))),
    "SLICE": OpRule(
        (
            max_op_version(2),
            min_level(NNAPI_1_2),
            type_in(INPUT, FLOAT_QUANT8_INT32),
            typed(operand(1, "begin"), INT32, hint=in_code("use INT32 for begin and size")),
            typed(operand(2, "size"), INT32, hint=in_code("use INT32 for begin and size")),
        )
    ),
    "STRIDED_SLICE": OpRule((max_op_version(2), FLOAT_QUANT8_OPERAND, min_level(NNAPI_1_1))),
}
