"""Operators that move elements: shapes, slices, padding, joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE
from ....rules.numbers import at_most
from ....rules.operands import INPUT, operand
from ....rules.vocabulary import check, constant, operand_count, option, typed
from .checks import INT32, QUANT8, UP_TO_2, all_inputs_quant8, hexagon_rule, inputs

_INDICES = ("INT32", "INT64")
_REFLECT, _SYMMETRIC = 0, 1


def _unknown_mode(node: NodeView) -> str | None:
    is_known = node.options.table is not None and node.options.mode in (_REFLECT, _SYMMETRIC)
    return None if is_known else "an unknown mode"


_PADDED = (*inputs(QUANT8, INT32), constant(operand(1, "padding")))

RULES = {
    "CONCATENATION": hexagon_rule(*all_inputs_quant8(), version_in=UP_TO_2),
    "DEPTH_TO_SPACE": hexagon_rule(*inputs(QUANT8), version_in=UP_TO_2),
    "MIRROR_PAD": hexagon_rule(*_PADDED, check(ATTRIBUTE, "mode REFLECT or SYMMETRIC", _unknown_mode), version_in=UP_TO_2),
    "PACK": hexagon_rule(*all_inputs_quant8(), version_in=UP_TO_2),
    "PAD": hexagon_rule(*_PADDED, version_in=UP_TO_2),
    "RESHAPE": hexagon_rule(operand_count(at_most(2)), typed(INPUT, QUANT8)),
    "SLICE": hexagon_rule(
        constant(operand(1, "begin")),
        constant(operand(2, "size")),
        *inputs(QUANT8, _INDICES, _INDICES),
        version_in=UP_TO_2,
    ),
    "SPACE_TO_DEPTH": hexagon_rule(*inputs(QUANT8), version_in=UP_TO_2),
    "SPLIT": hexagon_rule(*inputs(INT32, QUANT8), constant(operand(0, "axis")), version_in=UP_TO_2),
    "STRIDED_SLICE": hexagon_rule(
        *inputs(QUANT8, INT32, INT32, INT32),
        constant(operand(1, "begin")),
        constant(operand(2, "end")),
        constant(operand(3, "strides")),
        option("ellipsis_mask", 0, hint="write the slice without an ellipsis"),
        option("new_axis_mask", 0, hint="add the dimension with RESHAPE"),
        version_in=UP_TO_2,
    ),
    "TRANSPOSE": hexagon_rule(*inputs(QUANT8, INT32), version_in=UP_TO_2),
}
