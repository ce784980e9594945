"""Gathering."""

from __future__ import annotations

from ...rules.hints import in_code
from ...rules.operands import operand
from ...rules.vocabulary import rank, typed
from .checks import INT32, case, one_or_two_operands

INDICES = operand(1, "index tensor")

GATHER = case(
    one_or_two_operands(),
    rank(INDICES, 1).saying("Only support 1D indices"),
    typed(INDICES, INT32, hint=in_code("use INT32 indices")).saying("Only accept INT32 indices"),
)
