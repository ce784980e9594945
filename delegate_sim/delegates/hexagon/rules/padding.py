"""Padding."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant
from .checks import INT32, QUANT8, UP_TO_2, hexagon_rule, inputs

_REFLECT, _SYMMETRIC = 0, 1


def _unknown_mode(node: NodeView) -> str | None:
    is_known = node.options.table is not None and node.options.mode in (_REFLECT, _SYMMETRIC)
    return None if is_known else "an unknown mode"


_PADDED = (*inputs(QUANT8, INT32), constant(operand(1, "padding")))

RULES = {
    "MIRROR_PAD": hexagon_rule(*_PADDED, check(ATTRIBUTE, "mode REFLECT or SYMMETRIC", _unknown_mode), version_in=UP_TO_2),
    "PAD": hexagon_rule(*_PADDED, version_in=UP_TO_2),
}
