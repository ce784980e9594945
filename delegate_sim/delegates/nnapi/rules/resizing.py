"""Resizing of images."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE
from ....rules.number_sets import at_least
from ....rules.operands import INPUT, operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, constant, operand_count, rank, typed, unset, where
from ..target import NNAPI_1_2, NNAPI_1_3, NnapiTarget, below_level
from .checks import FLOAT, FLOAT_QUANT8_OPERAND, max_op_version, min_level


def _not_square(node: NodeView) -> str | None:
    height, width = node.output(0).shape[1:2], node.output(0).shape[2:3]
    return None if height == width else f"output {height} x {width}"


_CONSTANT_SIZE = (
    operand_count(at_least(2)),
    *where(lambda node: len(node.inputs) > 1, "if there is one", constant(operand(1, "size"))),
)
_WITHOUT_SHIFT = "resize without align_corners and half_pixel_centers, or use NNAPI 1.3"
_NO_SHIFTED_GRID = (
    unset("align_corners", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level(NNAPI_1_3)),
    unset("half_pixel_centers", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level(NNAPI_1_3)),
)

RULES: Rules[NnapiTarget] = {
    "RESIZE_BILINEAR": OpRule(
        (
            max_op_version(3),
            rank(INPUT, 4),
            FLOAT_QUANT8_OPERAND,
            *_CONSTANT_SIZE,
            check(OPERAND_VALUE, "an output with equal height and width", _not_square, "use NNAPI 1.2").when(
                below_level(NNAPI_1_2)
            ),
            *_NO_SHIFTED_GRID,
            typed(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
        )
    ),
    "RESIZE_NEAREST_NEIGHBOR": OpRule(
        (max_op_version(3), min_level(NNAPI_1_2), FLOAT_QUANT8_OPERAND, *_CONSTANT_SIZE, *_NO_SHIFTED_GRID)
    ),
}
