"""Activation functions and normalization."""

from __future__ import annotations

from ....rules.number_sets import exactly
from .checks import NO_ACTIVATION, QUANT8, UP_TO_2, hexagon_rule, inputs

_ONE = inputs(QUANT8)

RULES = {
    "HARD_SWISH": hexagon_rule(*_ONE),
    "L2_NORMALIZATION": hexagon_rule(*_ONE, NO_ACTIVATION, version_in=UP_TO_2),
    "LOGISTIC": hexagon_rule(*_ONE, version_in=UP_TO_2),
    "RELU": hexagon_rule(*_ONE, version_in=exactly(2)),
    "RELU6": hexagon_rule(*_ONE, version_in=UP_TO_2),
    "SOFTMAX": hexagon_rule(*_ONE, version_in=UP_TO_2),
    "TANH": hexagon_rule(*_ONE, version_in=UP_TO_2),
}
