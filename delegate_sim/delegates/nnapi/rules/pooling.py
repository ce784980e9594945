"""Pooling."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check
from ..kinds import FILTER_AREA, UNSUPPORTED_OPERAND_VALUE
from ..target import NNAPI_1_2, NnapiTarget, below_level, with_accelerator
from .checks import FLOAT_OPERAND, FLOAT_QUANT8_OPERAND, NO_ACTIVATION, QUANT8, max_op_version, op_version

_MAX_WINDOW = 256


def _large_window(node: NodeView) -> str | None:
    if node.input(0).type not in QUANT8:
        return None
    width, height = node.options.filter_width, node.options.filter_height
    return None if width * height <= _MAX_WINDOW else f"window {height} x {width}"


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
}
