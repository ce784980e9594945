"""Reductions."""

from __future__ import annotations

from ..types import OperationType
from .levels import BOOL_3, FLOAT_3, NUMBER_3, REAL_2, REAL_3
from .shared import max_rank
from .signature import BOOL, INT32, SAME, TENSOR_INT32, OperationRule, form

_O = OperationType


def _reduction(table: dict[int, int], function: str) -> OperationRule:
    return OperationRule(f"Reduce.cpp: reduce::{function}", table, (form(SAME, TENSOR_INT32, BOOL),), checks=(max_rank(0),))


_ARG_MIN_MAX = OperationRule(
    "ArgMinMax.cpp: arg_min_max::validate", dict.fromkeys(NUMBER_3, 3), (form(SAME, INT32),), (form(TENSOR_INT32),)
)
_LOGICAL_REDUCTION = _reduction(BOOL_3, "validateLogical")
_MAX_MIN_REDUCTION = _reduction(REAL_3, "validateMaxMin")
_PROD_SUM_REDUCTION = _reduction(FLOAT_3, "validateProdSum")

RULES: dict[int, OperationRule] = {
    _O.MEAN: OperationRule("SimpleMath.cpp: mean::validate", REAL_2, (form(SAME, TENSOR_INT32, INT32),), checks=(max_rank(0),)),
    _O.REDUCE_ALL: _LOGICAL_REDUCTION,
    _O.REDUCE_ANY: _LOGICAL_REDUCTION,
    _O.REDUCE_MAX: _MAX_MIN_REDUCTION,
    _O.REDUCE_MIN: _MAX_MIN_REDUCTION,
    _O.REDUCE_PROD: _PROD_SUM_REDUCTION,
    _O.REDUCE_SUM: _PROD_SUM_REDUCTION,
    _O.ARGMAX: _ARG_MIN_MAX,
    _O.ARGMIN: _ARG_MIN_MAX,
}
