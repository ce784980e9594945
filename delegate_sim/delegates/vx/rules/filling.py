"""Filling, repeating and counting."""

from __future__ import annotations

from ....rules.kinds import TENSOR_TYPE
from ....rules.operands import operand
from ....rules.vocabulary import constant, refused_if
from .checks import vx_rule

_ONE_HOT = (
    constant(operand(1, "depth")),
    refused_if(TENSOR_TYPE, "an output that is not BOOL", lambda node: node.output(0).type == "BOOL", "a BOOL output"),
)

RULES = {
    "BROADCAST_TO": vx_rule("BroadcastToMapper", int64_inputs=True),
    "ONE_HOT": vx_rule("OneHotMapper::IsOpSupported", *_ONE_HOT),
}
