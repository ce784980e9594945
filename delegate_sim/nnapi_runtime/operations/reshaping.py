"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from ..optional_inputs import FALSE, OptionalInputs
from ..types import OperandType, OperationType
from .levels import NUMBER_3, REAL_1, REAL_2, REAL_3, levels
from .shared import max_rank, zero_point_level
from .signature import BOOL, INT32, SAME, TENSOR_INT32, OperationRule, form

_T = OperandType
_O = OperationType


def _block(function: str) -> OperationRule:
    forms = (form(SAME, INT32), form(SAME, INT32, BOOL, level=3))
    return OperationRule(f"Reshape.cpp: reshape::{function}", REAL_1, forms, optional=(OptionalInputs(2, (FALSE,)),))


_RANK_TYPES = (
    *NUMBER_3,
    _T.TENSOR_QUANT16_SYMM,
    _T.TENSOR_BOOL8,
    _T.TENSOR_QUANT8_SYMM_PER_CHANNEL,
    _T.TENSOR_QUANT16_ASYMM,
    _T.TENSOR_QUANT8_SYMM,
)

RULES: dict[int, OperationRule] = {
    _O.RESHAPE: OperationRule(
        "Reshape.cpp: reshape::validateReshape",
        {**REAL_1, **levels(INT32=6)},
        (form(SAME, TENSOR_INT32),),
        checks=(max_rank(0),),
    ),
    _O.SQUEEZE: OperationRule("Squeeze.cpp: squeeze::validate", REAL_2, (form(SAME, TENSOR_INT32),), checks=(max_rank(0),)),
    _O.TRANSPOSE: OperationRule("Transpose.cpp: transpose::validate", REAL_2, (form(SAME, TENSOR_INT32),), checks=(max_rank(0),)),
    _O.EXPAND_DIMS: OperationRule("ExpandDims.cpp: expand_dims::validate", NUMBER_3, (form(SAME, INT32),)),
    _O.DEPTH_TO_SPACE: _block("validateDepthToSpace"),
    _O.SPACE_TO_DEPTH: _block("validateSpaceToDepth"),
    _O.BATCH_TO_SPACE_ND: OperationRule(
        "Reshape.cpp: reshape::validateBatchToSpaceND",
        REAL_2,
        (form(SAME, TENSOR_INT32), form(SAME, TENSOR_INT32, BOOL, level=3)),
        optional=(OptionalInputs(2, (FALSE,)),),
    ),
    _O.SPACE_TO_BATCH_ND: OperationRule(
        "Reshape.cpp: reshape::validateSpaceToBatchND",
        REAL_2,
        (form(SAME, TENSOR_INT32, TENSOR_INT32), form(SAME, TENSOR_INT32, TENSOR_INT32, BOOL, level=3)),
        raises=(zero_point_level,),
        optional=(OptionalInputs(3, (FALSE,)),),
    ),
    _O.CHANNEL_SHUFFLE: OperationRule(
        "ChannelShuffle.cpp: channel_shuffle::validate", REAL_3, (form(SAME, INT32, INT32),), checks=(max_rank(0),)
    ),
    _O.RANK: OperationRule("Rank.cpp: rank_op::validate", dict.fromkeys(_RANK_TYPES, 4), (form(SAME),), (form(INT32),)),
}
