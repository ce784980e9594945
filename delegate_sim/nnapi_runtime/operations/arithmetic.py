"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

import math

from ...foundation.float32 import float32
from ..refusal import Concern, OperandPart, Violation
from ..types import AndroidRelease, OperandType, OperationType
from .levels import BOOL_3, FLOAT_1, FLOAT_2, FLOAT_3, NUMBER_3, QUANT8_1, QUANT8_3, levels
from .shared import RANK_LIMIT, binary, max_rank, unary
from .signature import INT32, SAME, TENSOR_BOOL8, Decider, OperationRule, OperationView, SignatureCheck, form, operation_rule

_T = OperandType
_O = OperationType

_BEYOND_FLOAT32 = (
    "the product of the input scales, which exceeds float32 (because of values such as -3.4e38 in an attention mask)"
)


MUL_SCALE = operation_rule(
    "mul-output-scale",
    Concern.SCALES,
    "The output scale of a TENSOR_QUANT8_ASYMM MUL must be greater than the product of the input scales.",
    "Broadcast.cpp: broadcast::validate",
)
MUL_SCALE_SIGNED = operation_rule(
    "mul-output-scale-signed",
    Concern.SCALES,
    "The output scale of a TENSOR_QUANT8_ASYMM_SIGNED MUL must be greater than the product of the input scales.",
    "Broadcast.cpp: broadcast::validate",
    AndroidRelease.ANDROID_13,
)


def _mul_scale(code: int) -> SignatureCheck:
    def find(view: OperationView) -> Violation | None:
        if view.inputs[0].type != code:
            return None
        product = float32(view.inputs[0].scale * view.inputs[1].scale)
        scale = view.outputs[0].scale
        if scale > product:
            return None
        actual, bound = f"{scale:.4g}", f"{product:.4g}"
        if actual == bound and scale != product:
            actual, bound = str(scale), str(product)
        return OperandPart("output", 0, "scale"), actual, f"more than {bound if math.isfinite(product) else _BEYOND_FLOAT32}"

    return SignatureCheck(MUL_SCALE if code == _T.TENSOR_QUANT8_ASYMM else MUL_SCALE_SIGNED, find)


def _ranks_of_both(view: OperationView) -> Violation | None:
    """Return a violation if the ranks of both inputs are known and at least one rank is above 4."""
    ranks = [operand.rank for operand in view.inputs[:2]]
    if 0 in ranks or max(ranks) <= 4:
        return None
    return "ranks of inputs 0 and 1", " and ".join(map(str, ranks)), "at most 4"


def _arithmetic(table: dict[int, int], *checks: SignatureCheck) -> OperationRule:
    return OperationRule(
        "Broadcast.cpp: broadcast::validate",
        table,
        (form(SAME, SAME, INT32),),
        checks=(*checks, SignatureCheck(RANK_LIMIT, _ranks_of_both)),
    )


_COMPARISON = binary({**NUMBER_3, **BOOL_3}, "Comparisons.cpp: comparisons::validate", TENSOR_BOOL8)
_ELEMENTWISE = unary(FLOAT_3, "Elementwise.cpp: elementwise::validate")
_MAXIMUM_MINIMUM = binary(NUMBER_3, "MaximumMinimum.cpp: maximum_minimum::validate")
_LOGICAL = binary(BOOL_3, "LogicalAndOr.cpp: logical::validate")

RULES: dict[int, OperationRule] = {
    _O.ADD: _arithmetic({**FLOAT_1, **QUANT8_1, **levels(INT32=4)}),
    _O.MUL: _arithmetic(
        {**FLOAT_1, **QUANT8_1, **levels(INT32=4)},
        _mul_scale(_T.TENSOR_QUANT8_ASYMM),
        _mul_scale(_T.TENSOR_QUANT8_ASYMM_SIGNED),
    ),
    _O.SUB: _arithmetic({**FLOAT_2, **QUANT8_3, **levels(INT32=4)}),
    # Upstream rejects only unsigned quantized operands of DIV.
    _O.DIV: _arithmetic({**FLOAT_2, **levels(QUANT8_ASYMM_SIGNED=4, INT32=4)}),
    _O.MAXIMUM: _MAXIMUM_MINIMUM,
    _O.MINIMUM: _MAXIMUM_MINIMUM,
    _O.POW: binary(FLOAT_3, "Pow.cpp: pow::validate"),
    _O.ABS: unary({**FLOAT_3, **levels(INT32=4)}, "Elementwise.cpp: elementwise::validateAbs"),
    _O.EXP: _ELEMENTWISE,
    _O.LOG: _ELEMENTWISE,
    _O.SIN: _ELEMENTWISE,
    _O.SQRT: _ELEMENTWISE,
    _O.RSQRT: unary({**FLOAT_3, **levels(QUANT8_ASYMM=7, QUANT8_ASYMM_SIGNED=7)}, "Elementwise.cpp: elementwise::validateRsqrt"),
    _O.FLOOR: unary(FLOAT_1, "Elementwise.cpp: elementwise::validateFloor", max_rank(0)),
    _O.NEG: unary({**FLOAT_3, **levels(INT32=3)}, "Neg.cpp: neg::validate"),
    _O.LOGICAL_NOT: unary(BOOL_3, "LogicalNot.cpp: logical_not::validate"),
    _O.LOGICAL_AND: _LOGICAL,
    _O.LOGICAL_OR: _LOGICAL,
    _O.EQUAL: _COMPARISON,
    _O.GREATER: _COMPARISON,
    _O.GREATER_EQUAL: _COMPARISON,
    _O.LESS: _COMPARISON,
    _O.LESS_EQUAL: _COMPARISON,
    _O.NOT_EQUAL: _COMPARISON,
    _O.SELECT: OperationRule(
        "Select.cpp: select_op::validate",
        dict.fromkeys(NUMBER_3, 3),
        (form(TENSOR_BOOL8, SAME, SAME),),
        decider=Decider(1),
    ),
}
