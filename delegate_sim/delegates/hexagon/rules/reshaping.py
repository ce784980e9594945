"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from ....rules.number_sets import at_most
from ....rules.operands import INPUT
from ....rules.vocabulary import operand_count, typed
from .checks import INT32, QUANT8, UP_TO_2, hexagon_rule, inputs

RULES = {
    "DEPTH_TO_SPACE": hexagon_rule(*inputs(QUANT8), version_in=UP_TO_2),
    "RESHAPE": hexagon_rule(operand_count(at_most(2)), typed(INPUT, QUANT8)),
    "SPACE_TO_DEPTH": hexagon_rule(*inputs(QUANT8), version_in=UP_TO_2),
    "TRANSPOSE": hexagon_rule(*inputs(QUANT8, INT32), version_in=UP_TO_2),
}
