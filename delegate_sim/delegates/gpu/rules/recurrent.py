"""LSTM cells, in the full form with one operand for each gate, and in the basic form with joint weights."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import SHAPE
from ....rules.numbers import exactly
from ....rules.vocabulary import activation, check, operand_count, option, where
from ..questions import is_full_lstm
from .checks import UP_TO_4, gpu_rule, operands


def _is_basic(node: NodeView) -> bool:
    return not is_full_lstm(node)


def _activation_depth(node: NodeView) -> str | None:
    shape = node.output(3).shape
    return f"output 3 of shape {list(shape)}" if shape and shape[-1] % 4 else None


_FULL = (
    operand_count(exactly(20, 24)),
    operand_count(outputs=1),
    activation(("SIGMOID", "TANH")),
)
_BASIC = (
    operands(3, 2, 4),
    check(SHAPE, "output 3 with a last size that 4 divides", _activation_depth).from_release("litert-2.1.6"),
    activation(("TANH",)),
    option("cell_clip", 0),
    option("proj_clip", 0),
)

RULES = {
    "LSTM": gpu_rule(
        "LSTMOperationParser",
        *where(is_full_lstm, "in the full form", *_FULL),
        *where(_is_basic, "in the basic form", *_BASIC),
        version_in=UP_TO_4,
    )
}
