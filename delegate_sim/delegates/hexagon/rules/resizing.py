"""Resizing of images."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import SHAPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant
from .checks import INT32, QUANT8, UP_TO_3, hexagon_rule, inputs


def _size_count(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return None if count == 2 else f"a size of {count} elements"


_SIZED = (*inputs(QUANT8, INT32), constant(operand(1, "size")))

RULES = {
    "RESIZE_NEAREST_NEIGHBOR": hexagon_rule(*_SIZED, version_in=UP_TO_3),
    "RESIZE_BILINEAR": hexagon_rule(*_SIZED, check(SHAPE, "a size of 2 elements", _size_count), version_in=UP_TO_3),
}
