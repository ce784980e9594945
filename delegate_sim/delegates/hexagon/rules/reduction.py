"""Reductions and running sums."""

from __future__ import annotations

from ....rules.operands import operand
from ....rules.vocabulary import constant
from .checks import INT32, QUANT8, UP_TO_2, hexagon_rule, inputs

_WITH_AXES = inputs(QUANT8, INT32)

RULES = {
    "ARG_MAX": hexagon_rule(*_WITH_AXES, version_in=UP_TO_2),
    "ARG_MIN": hexagon_rule(*_WITH_AXES, version_in=UP_TO_2),
    "MEAN": hexagon_rule(*_WITH_AXES, constant(operand(1, "axis")), version_in=UP_TO_2),
}
