"""Rules on NNAPI's operations, by families of ``model/schema.py``.

Upstream: common/types/src/Validation.cpp validateOperationButNotOperandsImpl; validators of single operations in
common/types/operations/src.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..operands import NnOperand
from ..refusal import Call, refuse
from ..types import AndroidRelease, OperationType, ResultCode, Version, is_extension
from . import arithmetic, layers, shapes
from .signature import OperationRule, OperationView

__all__ = ["OPERATIONS", "validate_operation"]

OPERATIONS: dict[int, OperationRule] = {
    code: rule for rule in (*arithmetic.RULES, *layers.RULES, *shapes.RULES) for code in rule.operations
}


_CODES = frozenset(OperationType)


def validate_operation(
    code: int, inputs: Sequence[NnOperand], outputs: Sequence[NnOperand], android: AndroidRelease = AndroidRelease.ANDROID_13
) -> Version:
    """Return the version that an operation itself needs, regardless of its operands. Raise Refused if addOperation fails.

    Upstream: runtime/ModelBuilder.cpp addOperation; Validation.cpp validateOperationButNotOperandsImpl.
    """
    if not inputs or not outputs:
        needed = "at least 1"
        subject = "outputs" if inputs else "inputs"
        refuse("operation-pointers", Call.ADD_OPERATION, subject, 0, needed, ResultCode.UNEXPECTED_NULL)
    if is_extension(code) or code not in _CODES:
        refuse("operation-code", Call.ADD_OPERATION, "operation", code, "an NNAPI operation code")
    view = OperationView(code, inputs, outputs, android)
    if code == OperationType.OEM_OPERATION:
        return Version(1)
    if code == OperationType.IF:
        return arithmetic.validate_if(view)
    if code == OperationType.WHILE:
        return arithmetic.validate_while(view)
    return OPERATIONS[code].needs(view)
