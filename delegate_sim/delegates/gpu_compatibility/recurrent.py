"""LSTM cells. The full form has weights for each gate. The basic form has one weights tensor for all gates."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import SHAPE
from ...rules.number_sets import exactly
from ...rules.vocabulary import activation, check, operand_count, option, where
from .checks import case, operands
from .questions import is_full_lstm


def is_basic(node: NodeView) -> bool:
    """Return whether an LSTM has the basic form."""
    return not is_full_lstm(node)


def _activation_depth(node: NodeView) -> str | None:
    shape = node.output(3).shape
    return f"output 3 of shape {list(shape)}" if shape and shape[-1] % 4 else None


_FULL = (
    operand_count(exactly(20, 24)).saying(
        lambda node: f"Expected 20 or 24 input tensors, but node has {len(node.node.inputs)} input(s)."
    ),
    operand_count(outputs=1).saying(lambda node: f"Expected 1 output tensor, but node has {len(node.node.outputs)} output(s)."),
    activation(("SIGMOID", "TANH")).saying(
        lambda node: f"Only sigmoid or tanh activation is supported, but node has {node.options.fused_activation_function}"
    ),
)
_BASIC = (
    operands(3, 2, 4),
    check(SHAPE, "a multiple of 4 as the last dimension of output 3", _activation_depth)
    .from_release("litert-2.1.6")
    .saying("BasicLSTM activation depth must be a multiple of 4."),
    activation(("TANH",)).saying(
        lambda node: f"Only TANH activation is supported. but node has {node.options.fused_activation_function}"
    ),
    option("cell_clip", 0).saying("cell_clip is not supported."),
    option("proj_clip", 0).saying("proj_clip is not supported."),
)
LSTM = case(*where(is_full_lstm, "in the full form", *_FULL), *where(is_basic, "in the basic form", *_BASIC))
