"""Joining and splitting."""

from __future__ import annotations

from ....rules.operands import operand
from ....rules.vocabulary import constant
from .checks import INT32, QUANT8, UP_TO_2, all_inputs_quant8, hexagon_rule, inputs

RULES = {
    "CONCATENATION": hexagon_rule(*all_inputs_quant8(), version_in=UP_TO_2),
    "PACK": hexagon_rule(*all_inputs_quant8(), version_in=UP_TO_2),
    "SPLIT": hexagon_rule(*inputs(INT32, QUANT8), constant(operand(0, "axis")), version_in=UP_TO_2),
}
