"""Object detection: boxes, regions, and key points."""

from __future__ import annotations

from ..types import OperandType, OperationType
from .levels import FLOAT_3, REAL_3, levels
from .signature import BOOL, BOXES, INT32, QUANT8, SAME, SCALAR, TENSOR_INT32, OperationRule, Slot, by_type, form

_T = OperandType
_O = OperationType


_ANCHORS = by_type(dict.fromkeys(QUANT8, _T.TENSOR_QUANT16_SYMM))
_DELTAS = Slot(lambda decider: QUANT8 if decider == _T.TENSOR_QUANT16_ASYMM else frozenset({decider}))

RULES: dict[int, OperationRule] = {
    _O.AXIS_ALIGNED_BBOX_TRANSFORM: OperationRule(
        "GenerateProposals.cpp: axis_aligned_bbox_transform::validate",
        {**FLOAT_3, **levels(QUANT16_ASYMM=3)},
        (form(SAME, _DELTAS, TENSOR_INT32, SAME),),
    ),
    _O.BOX_WITH_NMS_LIMIT: OperationRule(
        "GenerateProposals.cpp: box_with_nms_limit::validate",
        REAL_3,
        (form(SAME, BOXES, TENSOR_INT32, SCALAR, INT32, INT32, SCALAR, SCALAR, SCALAR),),
        (form(SAME, BOXES, TENSOR_INT32, TENSOR_INT32),),
    ),
    _O.GENERATE_PROPOSALS: OperationRule(
        "GenerateProposals.cpp: generate_proposals::validate",
        REAL_3,
        (form(SAME, SAME, _ANCHORS, BOXES, SCALAR, SCALAR, INT32, INT32, SCALAR, SCALAR, BOOL),),
        (form(SAME, BOXES, TENSOR_INT32),),
    ),
    _O.DETECTION_POSTPROCESSING: OperationRule(
        "GenerateProposals.cpp: detection_postprocess::validate",
        FLOAT_3,
        (form(SAME, SAME, SAME, *(SCALAR,) * 4, BOOL, INT32, INT32, INT32, SCALAR, SCALAR, BOOL),),
        (form(SAME, SAME, TENSOR_INT32, TENSOR_INT32),),
    ),
    _O.HEATMAP_MAX_KEYPOINT: OperationRule(
        "HeatmapMaxKeypoint.cpp: heatmap_max_keypoint::validate",
        REAL_3,
        (form(SAME, BOXES, BOOL),),
        (form(SAME, BOXES),),
    ),
    _O.ROI_ALIGN: OperationRule(
        "RoiAlign.cpp: roi_align::validate",
        REAL_3,
        (form(SAME, BOXES, TENSOR_INT32, INT32, INT32, SCALAR, SCALAR, INT32, INT32, BOOL),),
    ),
    _O.ROI_POOLING: OperationRule(
        "RoiPooling.cpp: roi_pooling::validate",
        REAL_3,
        (form(SAME, BOXES, TENSOR_INT32, INT32, INT32, SCALAR, SCALAR, BOOL),),
    ),
}
