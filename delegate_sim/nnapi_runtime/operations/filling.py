"""Filling and repeating."""

from __future__ import annotations

from ..types import OperationType
from .levels import NUMBER_3, levels
from .signature import SAME, SCALAR, TENSOR_INT32, Decider, OperationRule, form

_O = OperationType


RULES: dict[int, OperationRule] = {
    _O.FILL: OperationRule(
        "Fill.cpp: fill_op::validate",
        levels(FLOAT32=4, FLOAT16=4, INT32=4),
        (form(TENSOR_INT32, SCALAR),),
        decider=Decider(is_output=True),
    ),
    _O.TILE: OperationRule("Tile.cpp: tile::validate", NUMBER_3, (form(SAME, TENSOR_INT32),)),
}
