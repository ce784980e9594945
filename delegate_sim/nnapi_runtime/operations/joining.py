"""Joining and splitting."""

from __future__ import annotations

from ..refusal import Concern, OperandPart, Violation
from ..types import OperandType, OperationType
from .levels import NUMBER_3, REAL_1
from .shared import QUANTIZATION_EQUAL, RANK_LIMIT, max_rank, unequal_quantization
from .signature import INT32, SAME, Decider, Form, OperationRule, OperationView, SignatureCheck, form, operation_rule

_T = OperandType
_O = OperationType


PACK_RANK = operation_rule(
    "pack-rank",
    Concern.SHAPE,
    "All inputs of a PACK must have the same rank, and the output must have one more dimension than the inputs.",
    "Pack.cpp: pack_op::validate",
)


def _pack_rank(view: OperationView) -> Violation | None:
    """Return a violation if the known ranks of inputs and output do not match."""
    needed = max(view.outputs[0].rank - 1, 0)
    for index, operand in enumerate(view.inputs[1:], 1):
        if operand.rank and needed and operand.rank != needed:
            return OperandPart("input", index, "rank"), operand.rank, needed
        needed = needed or operand.rank
    return None


def _pack_quantization(view: OperationView) -> Violation | None:
    return next((violation for i in range(1, len(view.inputs)) if (violation := unequal_quantization(view, i))), None)


def _concatenation_level(view: OperationView) -> int:
    """Return the feature level that the quantization of the inputs needs.

    Below level 3, quantized inputs must have the scale and zero point of the output.
    """
    if view.inputs[0].type != _T.TENSOR_QUANT8_ASYMM:
        return 1
    output = view.outputs[0]
    are_equal = all((one.scale, one.zero_point) == (output.scale, output.zero_point) for one in view.inputs[:-1])
    return 1 if are_equal else 3


def _concatenation_ranks(view: OperationView) -> Violation | None:
    return max_rank(*range(len(view.inputs) - 1)).find(view)


RULES: dict[int, OperationRule] = {
    _O.SPLIT: OperationRule("Split.cpp: split::validate", NUMBER_3, (form(SAME, INT32, INT32),), (Form((), repeated=SAME),)),
    _O.CONCATENATION: OperationRule(
        "Concatenation.cpp: concatenation::validate",
        REAL_1,
        (Form((), repeated=SAME, tail=(INT32,)),),
        checks=(SignatureCheck(RANK_LIMIT, _concatenation_ranks),),
        raises=(_concatenation_level,),
    ),
    _O.PACK: OperationRule(
        "Pack.cpp: pack_op::validate",
        dict.fromkeys(NUMBER_3, 6),
        (Form((INT32,), repeated=SAME),),
        decider=Decider(is_output=True),
        checks=(SignatureCheck(QUANTIZATION_EQUAL, _pack_quantization), SignatureCheck(PACK_RANK, _pack_rank)),
    ),
}
