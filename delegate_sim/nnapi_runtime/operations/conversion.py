"""Type conversion and quantization."""

from __future__ import annotations

from ..refusal import Concern, OperandPart, Violation
from ..types import AndroidRelease, OperandType, OperationType, element_count
from .levels import FLOAT_3, levels
from .shared import max_rank
from .signature import SAME, OperationRule, OperationView, SignatureCheck, Slot, form, one_of, operation_rule

_T = OperandType
_O = OperationType

CAST_SHAPE = operation_rule(
    "cast-shape",
    Concern.SHAPE,
    "The input and the output of a CAST must have the same shape.",
    "Cast.cpp: cast::validate",
    AndroidRelease.ANDROID_11,
)


def _cast_shape(view: OperationView) -> Violation | None:
    """Return a violation if input and output have different shapes.

    If the input's rank, the output's rank or an output dimension is unknown, the check passes.
    """
    given, output = view.inputs[0].dimensions, view.outputs[0].dimensions
    if not given or not output or given == output or element_count(output) == 0:
        return None
    return OperandPart("output", 0, "dimensions"), list(output), f"the dimensions of the input, {list(given)}"


_CAST_ANY = frozenset({_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32, _T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM})
_CAST_SAME = (
    _T.TENSOR_BOOL8,
    _T.TENSOR_QUANT16_ASYMM,
    _T.TENSOR_QUANT16_SYMM,
    _T.TENSOR_QUANT8_ASYMM_SIGNED,
    _T.TENSOR_QUANT8_SYMM,
)
_CAST_OUTPUT = Slot(lambda decider: _CAST_ANY if decider in _CAST_ANY else frozenset({decider}))

RULES: dict[int, OperationRule] = {
    _O.CAST: OperationRule(
        "Cast.cpp: cast::validate",
        {**dict.fromkeys(_CAST_ANY, 3), **dict.fromkeys(_CAST_SAME, 4)},
        (form(SAME),),
        (form(_CAST_OUTPUT),),
        checks=(SignatureCheck(CAST_SHAPE, _cast_shape),),
    ),
    # The type of the output may need a higher level. The check of the operand returns this level.
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
