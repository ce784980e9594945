"""Elementwise arithmetic."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import BROADCAST, TENSOR_TYPE
from ....rules.operands import INPUT
from ....rules.vocabulary import check
from .checks import FUSED, SAME_QUANTIZATIONS, SAME_SHAPE, SAME_TYPE, SIGNED, ethosu_rule, input_types, upstream


def _mixed_types(node: NodeView) -> str | None:
    first, second, result = node.input(0).type, node.input(1).type, node.output(0).type
    if first != second:
        return f"{first} and {second} inputs"
    allows_result = result in ("UINT8", "INT32") if first == "UINT8" else result != "UINT8"
    return None if allows_result else f"{first} inputs and {result} output"


_SAME_SIGN = upstream(
    "ConstraintInOutTypesValid",
    check(
        TENSOR_TYPE,
        "inputs of the same type; with UINT8 inputs, a UINT8 or INT32 output; with other inputs, an output that is not UINT8",
        _mixed_types,
        "quantize the model fully to INT8",
    ),
)


def _other_broadcast(node: NodeView) -> str | None:
    """Return the shapes if the inputs cannot be broadcast, or if the output does not have the broadcast shape."""
    if len(node.node.inputs) == 1:
        return None
    first, second, result = node.input(0).shape, node.input(1).shape, node.output(0).shape
    for one, other, out in zip(reversed(first), reversed(second), reversed(result), strict=False):
        if (one != other and 1 not in (one, other)) or out != max(one, other):
            return f"inputs of shapes {list(first)} and {list(second)}, output {list(result)}"
    return None


_BROADCAST = upstream(
    "ConstraintBroadcastShapes",
    check(
        BROADCAST,
        "in each dimension, equal input sizes or one input size of 1, and the larger size in the output",
        _other_broadcast,
    ),
)

_BINARY = ethosu_rule(*SAME_SHAPE, *_SAME_SIGN, *FUSED, *_BROADCAST, operands=(0, 1), scalar_inputs=True, int32=True)
_EXTREMUM = ethosu_rule(*SAME_SHAPE, *SAME_TYPE, *SAME_QUANTIZATIONS, *_BROADCAST, operands=(0, 1), scalar_inputs=True)

RULES = {
    "ABS": ethosu_rule(),
    "ADD": _BINARY,
    "EXP": ethosu_rule(*SIGNED),
    "LOG": ethosu_rule(),
    "MAXIMUM": _EXTREMUM,
    "MINIMUM": _EXTREMUM,
    "MUL": _BINARY,
    "RSQRT": ethosu_rule(*input_types("ConstraintInputInt8", INPUT, "INT8")),
    "SQUARED_DIFFERENCE": ethosu_rule(operands=(0, 1)),
    "SUB": _BINARY,
}
