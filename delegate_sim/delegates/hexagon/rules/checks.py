"""Checks of the Hexagon rules beyond the shared vocabulary (``delegates/hexagon/utils.cc``).

The delegate gives no reasons, and stops at the first condition that a node does not meet.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules import kinds
from ....rules.number_sets import Numbers, at_most, exactly, up_to_one
from ....rules.operands import operand
from ....rules.rule import Check, OpRule
from ....rules.source import LITERT, Source
from ....rules.vocabulary import activation, check, operand_count, ranks_at_most, typed, version, where_given
from ..target import HexagonTarget

SOURCE = Source(LITERT, "tflite/delegates/hexagon/utils.cc", "IsNodeSupportedByHexagon")
_VERSIONS = SOURCE.with_symbol("CheckOpVersion")
_TYPES = SOURCE.with_symbol("InputsWithCorrectTypes")


QUANT8 = ("UINT8", "INT8")
INT32 = ("INT32",)
MAX_RANK = 4

_RANKS = (
    ranks_at_most(MAX_RANK).from_source(SOURCE.with_branch("i < node->inputs->size")),
    ranks_at_most(MAX_RANK, results=True).from_source(SOURCE.with_branch("i < node->outputs->size")),
)

NO_ACTIVATION = activation(("NONE",))
RELU_ACTIVATION = activation(("NONE", "RELU", "RELU6", "RELU_N1_TO_1"))
"""``IsActivationReluOrNone``."""


UP_TO_1, UP_TO_2, UP_TO_3, UP_TO_4 = up_to_one(), at_most(2), at_most(3), at_most(4)


def hexagon_rule(*checks: Check[HexagonTarget], version_in: Numbers = UP_TO_1) -> OpRule[HexagonTarget]:
    """Return the rule of an operator: ranks of all tensors, the version, and its own checks."""
    return OpRule((*_RANKS, version(version_in).from_source(_VERSIONS), *checks))


def inputs(*types: tuple[str, ...], optional: int = 0) -> tuple[Check[object], ...]:
    """``InputsWithCorrectTypes``: as many operands as given here, each of one of its types or left out.

    So many of the last ones may be missing altogether.
    """
    counts = exactly(*range(len(types) - optional, len(types) + 1))
    each = [where_given(operand(position), typed(operand(position), allowed)) for position, allowed in enumerate(types)]
    return tuple(one.from_source(_TYPES) for one in (operand_count(counts), *[one for (one,) in each]))


def all_inputs_quant8() -> tuple[Check[object], Check[object]]:
    """At least one operand and one result, and every operand of 8 bits."""

    def find_count(node: NodeView) -> str | None:
        found = len(node.node.inputs), len(node.node.outputs)
        return None if min(found) > 0 else f"{found[0]} inputs and {found[1]} outputs"

    def find_type(node: NodeView) -> str | None:
        for position, tensor in enumerate(node.inputs):
            if tensor.type not in QUANT8:
                return f"input {position} is {tensor.type}"
        return None

    return (
        check(kinds.OPERAND_COUNT, "at least 1 input and 1 output", find_count).from_release("litert-2.3.0"),
        check(kinds.TENSOR_TYPE, "inputs of type UINT8 or INT8", find_type),
    )
