"""Matrix products."""

from __future__ import annotations

from ..refusal import Concern, OperandPart, Violation
from ..types import AndroidRelease, OperationType, element_count
from .levels import REAL_1, levels
from .shared import product_level
from .signature import BIAS, BOOL, INT32, SAME, OperationRule, OperationView, SignatureCheck, form, operation_rule

_O = OperationType

FULLY_CONNECTED_SHAPE = operation_rule(
    "fully-connected-shape",
    Concern.SHAPE,
    "FULLY_CONNECTED must have an input of rank 2 to 4, weights of rank 2 and a bias of rank 1. Their sizes must match.",
    "FullyConnected.cpp: fully_connected::validateShapes",
    AndroidRelease.ANDROID_11,
)


def _fully_connected_scale_level(view: OperationView) -> int:
    return product_level(view, view.outputs[0].scale)


def _fully_connected_shape(view: OperationView) -> Violation | None:
    """Return a violation if the operands' shapes do not match. If a rank is unknown, the check passes."""
    given, weights, bias = (operand.dimensions for operand in view.inputs[:3])
    if not given or not weights or not bias:
        return None
    ranks = (len(given), len(weights), len(bias))
    if not (2 <= ranks[0] <= 4 and ranks[1:] == (2, 1)):
        return "ranks of input, weights and bias", f"{ranks[0]}, {ranks[1]}, {ranks[2]}", "2 to 4, 2, 1"
    units, columns = weights
    elements = element_count(given)
    if columns and elements % columns:
        return OperandPart("input", 0, "elements"), elements, f"a multiple of {columns}, the number of columns of the weights"
    if units and bias[0] and units != bias[0]:
        return OperandPart("input", 2, "elements"), bias[0], f"{units}, the number of rows of the weights"
    return None


RULES: dict[int, OperationRule] = {
    _O.FULLY_CONNECTED: OperationRule(
        "FullyConnected.cpp: fully_connected::validate",
        REAL_1,
        (form(SAME, SAME, BIAS, INT32),),
        checks=(SignatureCheck(FULLY_CONNECTED_SHAPE, _fully_connected_shape),),
        raises=(_fully_connected_scale_level,),
    ),
    _O.BATCH_MATMUL: OperationRule(
        "BatchMatmul.cpp: batch_matmul_op::validate",
        levels(FLOAT16=6, FLOAT32=6, QUANT8_ASYMM_SIGNED=6, INT32=6),
        (form(SAME, SAME, BOOL, BOOL),),
    ),
}
