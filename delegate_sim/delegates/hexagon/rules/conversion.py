"""Operators that change the type or the encoding of a tensor."""

from __future__ import annotations

from .checks import QUANT8, UP_TO_2, hexagon_rule, inputs

RULES = {"QUANTIZE": hexagon_rule(*inputs(QUANT8), version_in=UP_TO_2)}
