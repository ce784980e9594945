"""Slicing and reversal."""

from __future__ import annotations

from ..refusal import Concern, OperandPart, Violation
from ..types import OperationType
from .levels import NUMBER_3, NUMBER_7, REAL_2
from .shared import EQUAL_QUANTIZATION, max_rank, unequal_rank
from .signature import INT32, SAME, TENSOR_INT32, OperationRule, OperationView, SignatureCheck, form, operation_rule

_O = OperationType

REVERSE_SHAPE = operation_rule(
    "reverse-shape",
    Concern.SHAPE,
    "REVERSE must have one axis, and the output must have the same rank as the input.",
    "Reverse.cpp: reverse_op::validate",
)


def _reverse_shape(view: OperationView) -> Violation | None:
    axis = view.inputs[1].dimensions
    if axis and (len(axis) != 1 or axis[0] not in {0, 1}):
        return OperandPart("input", 1, "dimensions"), list(axis), "[1]"
    return unequal_rank(view)


RULES: dict[int, OperationRule] = {
    _O.STRIDED_SLICE: OperationRule(
        "StridedSlice.cpp: strided_slice::validate",
        REAL_2,
        (form(SAME, TENSOR_INT32, TENSOR_INT32, TENSOR_INT32, INT32, INT32, INT32),),
        checks=(max_rank(0),),
    ),
    _O.SLICE: OperationRule("Slice.cpp: slice::validate", NUMBER_3, (form(SAME, TENSOR_INT32, TENSOR_INT32),)),
    _O.REVERSE: OperationRule(
        "Reverse.cpp: reverse_op::validate",
        NUMBER_7,
        (form(SAME, TENSOR_INT32),),
        checks=(EQUAL_QUANTIZATION, SignatureCheck(REVERSE_SHAPE, _reverse_shape)),
    ),
}
