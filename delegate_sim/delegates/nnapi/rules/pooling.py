"""Pooling and resizing of images."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE
from ....rules.number_sets import at_least
from ....rules.operands import INPUT, operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, constant, operand_count, rank, typed, unset, where
from ..kinds import FILTER_AREA, UNSUPPORTED_OPERAND_VALUE
from ..target import NNAPI_1_2, NNAPI_1_3, NnapiTarget, below_level, with_accelerator
from .checks import FLOAT, FLOAT_OPERAND, FLOAT_QUANT8_OPERAND, NO_ACTIVATION, QUANT8, max_op_version, min_level, op_version

_MAX_WINDOW = 256


def _large_window(node: NodeView) -> str | None:
    if node.input(0).type not in QUANT8:
        return None
    width, height = node.options.filter_width, node.options.filter_height
    return None if width * height <= _MAX_WINDOW else f"window {height} x {width}"


def _not_square(node: NodeView) -> str | None:
    height, width = node.output(0).shape[1:2], node.output(0).shape[2:3]
    return None if height == width else f"output {height} x {width}"


_CONSTANT_SIZE = (
    operand_count(at_least(2)),
    *where(lambda node: len(node.inputs) > 1, "if there is one", constant(operand(1, "size"))),
)
_WITHOUT_SHIFT = "resize without shifting the grid, or target NNAPI 1.3"
_NO_SHIFTED_GRID = (
    unset("align_corners", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level(NNAPI_1_3)),
    unset("half_pixel_centers", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level(NNAPI_1_3)),
)

RULES: Rules[NnapiTarget] = {
    "AVERAGE_POOL_2D": OpRule(
        (
            max_op_version(2),
            FLOAT_QUANT8_OPERAND,
            check(FILTER_AREA, f"a window of at most {_MAX_WINDOW} elements", _large_window).when(with_accelerator(False)),
        )
    ),
    "L2_POOL_2D": OpRule(
        (
            op_version(1),
            FLOAT_OPERAND,
            NO_ACTIVATION.reported_as(UNSUPPORTED_OPERAND_VALUE).when(below_level(NNAPI_1_2)),
        )
    ),
    "MAX_POOL_2D": OpRule((max_op_version(2), FLOAT_QUANT8_OPERAND)),
    "RESIZE_BILINEAR": OpRule(
        (
            max_op_version(3),
            rank(INPUT, 4),
            FLOAT_QUANT8_OPERAND,
            *_CONSTANT_SIZE,
            check(OPERAND_VALUE, "an output as high as it is wide", _not_square, "target NNAPI 1.2").when(below_level(NNAPI_1_2)),
            *_NO_SHIFTED_GRID,
            typed(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
        )
    ),
    "RESIZE_NEAREST_NEIGHBOR": OpRule(
        (max_op_version(3), min_level(NNAPI_1_2), FLOAT_QUANT8_OPERAND, *_CONSTANT_SIZE, *_NO_SHIFTED_GRID)
    ),
}
