"""Padding."""

from __future__ import annotations

from ..refusal import Concern, OperandPart, Violation
from ..types import OperandType, OperationType
from .levels import NUMBER_7, REAL_2, REAL_3
from .shared import EQUAL_QUANTIZATION, max_rank, unequal_rank, zero_point_level
from .signature import INT32, SAME, TENSOR_INT32, OperationRule, OperationView, SignatureCheck, by_type, form, operation_rule

_T = OperandType
_O = OperationType

MIRROR_PAD_SHAPE = operation_rule(
    "mirror-pad-shape",
    Concern.SHAPE,
    "MIRROR_PAD must have two paddings for each dimension, and the output must have the same rank as the input.",
    "MirrorPad.cpp: mirror_pad_op::validate",
)


def _mirror_pad_shape(view: OperationView) -> Violation | None:
    rank, paddings = view.inputs[0].rank, view.inputs[1].dimensions
    if paddings:
        if len(paddings) != 2 or paddings[1] not in {0, 2}:
            return OperandPart("input", 1, "dimensions"), list(paddings), "[rank of input 0, 2]"
        if rank and paddings[0] not in {0, rank}:
            return OperandPart("input", 1, "dimensions"), list(paddings), f"[{rank}, 2]"
    return unequal_rank(view)


_PAD_VALUE = by_type({_T.TENSOR_FLOAT16: _T.FLOAT16, _T.TENSOR_FLOAT32: _T.FLOAT32}, _T.INT32)

RULES: dict[int, OperationRule] = {
    _O.PAD: OperationRule(
        "Reshape.cpp: reshape::validatePad",
        REAL_2,
        (form(SAME, TENSOR_INT32),),
        checks=(max_rank(0),),
        raises=(zero_point_level,),
    ),
    _O.PAD_V2: OperationRule(
        "Reshape.cpp: reshape::validatePadV2", REAL_3, (form(SAME, TENSOR_INT32, _PAD_VALUE),), checks=(max_rank(0),)
    ),
    _O.MIRROR_PAD: OperationRule(
        "MirrorPad.cpp: mirror_pad_op::validate",
        NUMBER_7,
        (form(SAME, TENSOR_INT32, INT32),),
        checks=(EQUAL_QUANTIZATION, SignatureCheck(MIRROR_PAD_SHAPE, _mirror_pad_shape)),
    ),
}
