"""Activations, arithmetic, comparison and other operations that work on one element at a time."""

from __future__ import annotations

from ...single_precision import float32
from ..refusal import Violation
from ..types import AndroidRelease, OperandType, OperationType, element_count
from .levels import BOOL_3, FLOAT_1, FLOAT_2, FLOAT_3, FLOAT_4, NUMBER_3, QUANT8_1, QUANT8_3, REAL_3, levels
from .shared import RANK_LIMIT, max_rank
from .signature import (
    INT32,
    SAME,
    SCALAR,
    TENSOR_BOOL8,
    Decider,
    OperationRule,
    OperationView,
    SignatureCheck,
    Slot,
    form,
    one_of,
    operation_rule,
)

_T = OperandType
_O = OperationType

MUL_SCALE = operation_rule(
    "mul-output-scale",
    "The output's scale of a TENSOR_QUANT8_ASYMM MUL is more than the product of the inputs' scales.",
    "Broadcast.cpp: broadcast::validate",
)
MUL_SCALE_SIGNED = operation_rule(
    "mul-output-scale-signed",
    "The output's scale of a TENSOR_QUANT8_ASYMM_SIGNED MUL is more than the product of the inputs' scales.",
    "Broadcast.cpp: broadcast::validate",
    AndroidRelease.ANDROID_13,
)
CAST_SHAPE = operation_rule(
    "cast-shape", "Input and output of CAST have the same shape.", "Cast.cpp: cast::validate", AndroidRelease.ANDROID_11
)


def _mul_scale(quantised: int) -> SignatureCheck:
    def find(view: OperationView) -> Violation | None:
        if view.inputs[0].type != quantised:
            return None
        product = float32(view.inputs[0].scale * view.inputs[1].scale)
        scale = view.outputs[0].scale
        return None if scale > product else Violation("scale of output 0", str(scale), f"more than {product}")

    return SignatureCheck(MUL_SCALE if quantised == _T.TENSOR_QUANT8_ASYMM else MUL_SCALE_SIGNED, find)


def _ranks_of_both(view: OperationView) -> Violation | None:
    """The limit counts only where both ranks are known."""
    ranks = [operand.rank for operand in view.inputs[:2]]
    if 0 in ranks or max(ranks) <= 4:
        return None
    return Violation("ranks of inputs 0 and 1", " and ".join(map(str, ranks)), "at most 4")


def _cast_shape(view: OperationView) -> Violation | None:
    """Any output dimension that is not known frees the shape."""
    given, output = view.inputs[0].dimensions, view.outputs[0].dimensions
    if not given or not output or given == output or element_count(output) == 0:
        return None
    return Violation("dimensions of output 0", str(list(output)), f"those of the input, {list(given)}")


def _activation(quantised: dict[int, int]) -> OperationRule:
    return OperationRule("Activation.cpp: activation::validate", {**FLOAT_1, **quantised}, (form(SAME),), checks=(max_rank(0),))


def _arithmetic(table: dict[int, int], *checks: SignatureCheck) -> OperationRule:
    return OperationRule(
        "Broadcast.cpp: broadcast::validate",
        table,
        (form(SAME, SAME, INT32),),
        checks=(*checks, SignatureCheck(RANK_LIMIT, _ranks_of_both)),
    )


def _unary(table: dict[int, int], source: str, *checks: SignatureCheck) -> OperationRule:
    return OperationRule(source, table, (form(SAME),), checks=checks)


def _binary(table: dict[int, int], source: str, output: Slot = SAME) -> OperationRule:
    return OperationRule(source, table, (form(SAME, SAME),), (form(output),))


_CAST_ANY = frozenset({_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32, _T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM})
_CAST_SAME = (
    _T.TENSOR_BOOL8,
    _T.TENSOR_QUANT16_ASYMM,
    _T.TENSOR_QUANT16_SYMM,
    _T.TENSOR_QUANT8_ASYMM_SIGNED,
    _T.TENSOR_QUANT8_SYMM,
)
_CAST_OUTPUT = Slot("type to cast to", lambda decider: _CAST_ANY if decider in _CAST_ANY else frozenset({decider}))

_COMPARISON = _binary({**NUMBER_3, **BOOL_3}, "Comparisons.cpp: comparisons::validate", TENSOR_BOOL8)
_ELEMENTWISE = _unary(FLOAT_3, "Elementwise.cpp: elementwise::validate")
_MAXIMUM_MINIMUM = _binary(NUMBER_3, "MaximumMinimum.cpp: maximum_minimum::validate")
_LOGICAL = _binary(BOOL_3, "LogicalAndOr.cpp: logical::validate")

RULES: dict[int, OperationRule] = {
    _O.RELU: _activation(QUANT8_1),
    _O.RELU1: _activation(QUANT8_1),
    _O.RELU6: _activation(QUANT8_1),
    _O.LOGISTIC: _activation(QUANT8_1),
    _O.TANH: _activation(QUANT8_3),
    _O.HARD_SWISH: _unary(
        {**FLOAT_4, **levels(QUANT8_ASYMM=4, QUANT8_ASYMM_SIGNED=4)},
        "Activation.cpp: activation::validateHardSwish",
    ),
    _O.ELU: OperationRule("Elu.cpp: elu::validate", FLOAT_4, (form(SAME, SCALAR),)),
    _O.PRELU: _binary(REAL_3, "PRelu.cpp: prelu::validate"),
    _O.ADD: _arithmetic({**FLOAT_1, **QUANT8_1, **levels(INT32=4)}),
    _O.MUL: _arithmetic(
        {**FLOAT_1, **QUANT8_1, **levels(INT32=4)},
        _mul_scale(_T.TENSOR_QUANT8_ASYMM),
        _mul_scale(_T.TENSOR_QUANT8_ASYMM_SIGNED),
    ),
    _O.SUB: _arithmetic({**FLOAT_2, **QUANT8_3, **levels(INT32=4)}),
    # The validator refuses quantised operands of DIV only where they are unsigned.
    _O.DIV: _arithmetic({**FLOAT_2, **levels(QUANT8_ASYMM_SIGNED=4, INT32=4)}),
    _O.MAXIMUM: _MAXIMUM_MINIMUM,
    _O.MINIMUM: _MAXIMUM_MINIMUM,
    _O.POW: _binary(FLOAT_3, "Pow.cpp: pow::validate"),
    _O.ABS: _unary({**FLOAT_3, **levels(INT32=4)}, "Elementwise.cpp: elementwise::validateAbs"),
    _O.EXP: _ELEMENTWISE,
    _O.LOG: _ELEMENTWISE,
    _O.SIN: _ELEMENTWISE,
    _O.SQRT: _ELEMENTWISE,
    _O.RSQRT: _unary({**FLOAT_3, **levels(QUANT8_ASYMM=7, QUANT8_ASYMM_SIGNED=7)}, "Elementwise.cpp: elementwise::validateRsqrt"),
    _O.FLOOR: _unary(FLOAT_1, "Elementwise.cpp: elementwise::validateFloor", max_rank(0)),
    _O.NEG: _unary({**FLOAT_3, **levels(INT32=3)}, "Neg.cpp: neg::validate"),
    _O.LOGICAL_NOT: _unary(BOOL_3, "LogicalNot.cpp: logical_not::validate"),
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
    _O.CAST: OperationRule(
        "Cast.cpp: cast::validate",
        {**dict.fromkeys(_CAST_ANY, 3), **dict.fromkeys(_CAST_SAME, 4)},
        (form(SAME),),
        (form(_CAST_OUTPUT),),
        checks=(SignatureCheck(CAST_SHAPE, _cast_shape),),
    ),
    # The levels of the quantised types themselves do the rest.
    _O.QUANTIZE: OperationRule(
        "Quantize.cpp: quantize::validate",
        FLOAT_3,
        (form(SAME),),
        (form(one_of(_T.TENSOR_QUANT8_ASYMM, _T.TENSOR_QUANT8_ASYMM_SIGNED)),),
    ),
    _O.DEQUANTIZE: OperationRule(
        "Dequantize.cpp: dequantize::validate",
        levels(QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=3, QUANT8_SYMM=3, QUANT8_SYMM_PER_CHANNEL=3),
        (form(SAME),),
        (form(one_of(_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32)),),
        checks=(max_rank(0),),
    ),
}
