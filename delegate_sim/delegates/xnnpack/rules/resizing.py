"""Resizing of images.

Source: ``VisitResizeBilinearNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE
from ....rules.operands import OUTPUT, operand
from ....rules.vocabulary import check
from .checks import INPUT, integers, operands, shaped, stored, vector, xnnpack_rule
from .types import FLOAT32_OR_8_BITS, FLOAT_OR_8_BITS_LAYERS, of_types


def _empty_first_size(node: NodeView) -> str | None:
    """Return the new height as text if the height is below 1. The delegate does not check the new width."""
    value = node.value(node.input(1))
    return f"new height {value[0]}" if value is not None and len(value) and value[0] <= 0 else None


_NEW_SIZE = operand(1, "new size")

RULES = {
    "RESIZE_BILINEAR": xnnpack_rule(
        "VisitResizeBilinearNode",
        operands(2),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *shaped(INPUT, 4),
        integers(_NEW_SIZE, "INT32"),
        vector(_NEW_SIZE),
        stored(_NEW_SIZE),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(OUTPUT, 4),
        check(OPERAND_VALUE, "a new height of at least 1", _empty_first_size),
    ),
}
