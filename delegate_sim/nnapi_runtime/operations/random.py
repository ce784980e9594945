"""Random numbers."""

from __future__ import annotations

from ..types import OperationType
from .levels import FLOAT_3
from .signature import INT32, SAME, TENSOR_INT32, OperationRule, form

_O = OperationType


RULES: dict[int, OperationRule] = {
    _O.RANDOM_MULTINOMIAL: OperationRule(
        "Multinomial.cpp: multinomial::validate", FLOAT_3, (form(SAME, INT32, TENSOR_INT32),), (form(TENSOR_INT32),)
    ),
}
