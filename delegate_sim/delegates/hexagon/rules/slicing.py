"""Operators that read, write or reverse slices."""

from __future__ import annotations

from ....rules.hints import by_reshape
from ....rules.operands import operand
from ....rules.vocabulary import constant, option
from .checks import INT32, QUANT8, UP_TO_2, hexagon_rule, inputs

_INDICES = ("INT32", "INT64")

RULES = {
    "SLICE": hexagon_rule(
        constant(operand(1, "begin")),
        constant(operand(2, "size")),
        *inputs(QUANT8, _INDICES, _INDICES),
        version_in=UP_TO_2,
    ),
    "STRIDED_SLICE": hexagon_rule(
        *inputs(QUANT8, INT32, INT32, INT32),
        constant(operand(1, "begin")),
        constant(operand(2, "end")),
        constant(operand(3, "strides")),
        option("ellipsis_mask", 0, hint="slice without an ellipsis"),
        option("new_axis_mask", 0, hint=by_reshape("add the dimension with RESHAPE")),
        version_in=UP_TO_2,
    ),
}
