"""Resizing of images."""

from __future__ import annotations

from ..optional_inputs import FALSE, OptionalInputs
from ..refusal import Concern, OperandPart, Violation
from ..types import OperandType, OperationType
from .levels import FLOAT_1, QUANT8_3, REAL_3
from .signature import BOOL, SAME, Form, OperationRule, OperationView, SignatureCheck, Slot, form, operation_rule

_T = OperandType
_O = OperationType

RESIZE_SIZES = operation_rule(
    "resize-sizes",
    Concern.TYPES,
    "The width and the height of a resize must both be sizes, or must both be scales.",
    "ResizeImageOps.cpp: resize_image::validate",
)


def _resize_sizes(view: OperationView) -> Violation | None:
    width, height = view.inputs[1].type, view.inputs[2].type
    return None if width == height else (OperandPart("input", 1, "type"), _T(width), f"the type of input 2, {_T(height)!s}")


def _resize_scale_level(view: OperationView) -> int:
    return 1 if view.inputs[2].type == _T.INT32 else 3


_SIZE_OR_SCALE = Slot(lambda decider: frozenset({_T.INT32, _T.FLOAT16 if decider == _T.TENSOR_FLOAT16 else _T.FLOAT32}))
_RESIZE = (SAME, _SIZE_OR_SCALE, _SIZE_OR_SCALE)


def _resize(table: dict[int, int], optional: OptionalInputs, *forms: Form) -> OperationRule:
    return OperationRule(
        "ResizeImageOps.cpp: resize_image::validate",
        table,
        (
            *forms,
            form(*_RESIZE, BOOL, level=3),
            form(*_RESIZE, BOOL, BOOL, level=4),
            form(*_RESIZE, BOOL, BOOL, BOOL, level=4),
        ),
        checks=(SignatureCheck(RESIZE_SIZES, _resize_sizes),),
        raises=(_resize_scale_level,),
        optional=(optional,),
    )


RULES: dict[int, OperationRule] = {
    _O.RESIZE_BILINEAR: _resize({**FLOAT_1, **QUANT8_3}, OptionalInputs(3, (FALSE, FALSE, FALSE)), form(*_RESIZE)),
    _O.RESIZE_NEAREST_NEIGHBOR: _resize(REAL_3, OptionalInputs(4, (FALSE, FALSE))),
}
