"""Pooling."""

from __future__ import annotations

from ..optional_inputs import FALSE, OptionalInputs
from ..types import OperandType, OperationType
from .levels import FLOAT_1, REAL_1
from .shared import integers
from .signature import BOOL, SAME, Form, OperationRule, form

_T = OperandType
_O = OperationType


_POOLING_LAYOUT = (
    OptionalInputs(10, (FALSE,), (7, _T.INT32)),
    OptionalInputs(7, (FALSE,), (7, _T.BOOL)),
)


def _pooling(table: dict[int, int]) -> OperationRule:
    forms: list[Form] = []
    for numbers in (6, 9):
        forms += [form(SAME, *integers(numbers)), form(SAME, *integers(numbers), BOOL, level=3)]
    return OperationRule("Pooling.cpp: pooling::validate", table, tuple(forms), optional=_POOLING_LAYOUT)


RULES: dict[int, OperationRule] = {
    _O.AVERAGE_POOL_2D: _pooling(REAL_1),
    _O.MAX_POOL_2D: _pooling(REAL_1),
    _O.L2_POOL_2D: _pooling(FLOAT_1),
}
