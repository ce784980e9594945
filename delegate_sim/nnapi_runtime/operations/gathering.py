"""Gathering, lookup, and search."""

from __future__ import annotations

from ..types import OperandType, OperationType
from .levels import FLOAT_1, NUMBER_3, levels
from .signature import INT32, SAME, TENSOR_INT32, Decider, OperationRule, OperationView, form, one_of

_T = OperandType
_O = OperationType


def _embedding_level(view: OperationView) -> int:
    """Return the feature level that the type of the lookup table needs. On Android 10, no type raises the level."""
    is_newer = view.inputs[1].type in {_T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM} and view.android >= 11
    return 3 if is_newer else 1


RULES: dict[int, OperationRule] = {
    _O.GATHER: OperationRule("Gather.cpp: gather::validate", NUMBER_3, (form(SAME, INT32, TENSOR_INT32),)),
    _O.TOPK_V2: OperationRule("TopK_V2.cpp: topk_v2::validate", NUMBER_3, (form(SAME, INT32),), (form(SAME, TENSOR_INT32),)),
    _O.EMBEDDING_LOOKUP: OperationRule(
        "EmbeddingLookup.cpp: embedding_lookup::validate",
        levels(FLOAT32=1, FLOAT16=4, QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=4, INT32=1),
        (form(TENSOR_INT32, SAME),),
        decider=Decider(1),
        raises=(_embedding_level,),
    ),
    _O.HASHTABLE_LOOKUP: OperationRule(
        "HashtableLookup.cpp: hashtable_lookup::validate",
        levels(FLOAT32=1, INT32=1, QUANT8_ASYMM=1),
        (form(TENSOR_INT32, TENSOR_INT32, SAME),),
        (form(SAME, one_of(_T.TENSOR_QUANT8_ASYMM)),),
        decider=Decider(2),
    ),
    _O.LSH_PROJECTION: OperationRule(
        "LSHProjection.cpp: lsh_projection::validate",
        FLOAT_1,
        (
            form(
                SAME,
                one_of(_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32, _T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM),
                SAME,
                INT32,
            ),
        ),
        (form(TENSOR_INT32),),
    ),
}
