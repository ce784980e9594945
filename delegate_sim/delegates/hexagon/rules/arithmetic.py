"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

from ....rules.number_sets import exactly
from .checks import QUANT8, RELU_ACTIVATION, UP_TO_2, hexagon_rule, inputs

_INT8 = ("INT8",)
_TWO = inputs(QUANT8, QUANT8)

RULES = {
    "ADD": hexagon_rule(*_TWO, RELU_ACTIVATION, version_in=UP_TO_2),
    "MAXIMUM": hexagon_rule(*_TWO, version_in=UP_TO_2),
    "MINIMUM": hexagon_rule(*_TWO, version_in=UP_TO_2),
    "MUL": hexagon_rule(*_TWO, RELU_ACTIVATION, version_in=UP_TO_2),
    "NEG": hexagon_rule(*inputs(QUANT8)),
    "RSQRT": hexagon_rule(*inputs(_INT8), version_in=exactly(2)),
    "SQUARED_DIFFERENCE": hexagon_rule(*inputs(_INT8, _INT8), version_in=exactly(2)),
    "SUB": hexagon_rule(*_TWO, RELU_ACTIVATION, version_in=UP_TO_2),
}
