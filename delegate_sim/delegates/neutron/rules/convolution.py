"""Convolutions."""

from __future__ import annotations

from ....rules.number_sets import exactly
from ....rules.operands import operand
from ....rules.vocabulary import option
from .checks import FOUR_DIMENSIONS, filtered, neutron_rule

_FILTER = operand(1, "filter")
_UNDILATED = tuple(option(f"dilation_{side}_factor", 1, hint="use a larger filter instead of dilation") for side in ("w", "h"))
_STRIDES = tuple(option(f"stride_{side}", exactly(1, 2), hint="use strides of 1 or 2") for side in ("w", "h"))

RULES = {
    "CONV_2D": neutron_rule(*filtered(_FILTER), FOUR_DIMENSIONS, *_UNDILATED),
    "DEPTHWISE_CONV_2D": neutron_rule(
        *filtered(_FILTER),
        option("depth_multiplier", 1, hint="use a depth multiplier of 1"),
        FOUR_DIMENSIONS,
        *_UNDILATED,
        *_STRIDES,
    ),
}
