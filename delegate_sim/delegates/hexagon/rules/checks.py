"""Checks that only the Hexagon rules use (``delegates/hexagon/utils.cc``).

The delegate gives no reasons, and stops at the first failed check.
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
"""Require RELU, RELU6, RELU_N1_TO_1 or no fused activation (``IsActivationReluOrNone``)."""


UP_TO_1, UP_TO_2, UP_TO_3, UP_TO_4 = up_to_one(), at_most(2), at_most(3), at_most(4)


def hexagon_rule(*checks: Check[HexagonTarget], version_in: Numbers = UP_TO_1) -> OpRule[HexagonTarget]:
    """Return the rule of an operator: the checks of all tensors' ranks, the check of the version, then ``checks``."""
    return OpRule((*_RANKS, version(version_in).from_source(_VERSIONS), *checks))


def inputs(*types: tuple[str, ...], optional: int = 0) -> tuple[Check[object], ...]:
    """Require that each operand has one of the types in its tuple (``InputsWithCorrectTypes``).

    Every operand may be omitted with the index -1. The last ``optional`` operands may also be absent from the node's list of
    operands.
    """
    counts = exactly(*range(len(types) - optional, len(types) + 1))
    operand_checks = [where_given(operand(position), typed(operand(position), allowed)) for position, allowed in enumerate(types)]
    return tuple(one.from_source(_TYPES) for one in (operand_count(counts), *[one for (one,) in operand_checks]))


def all_inputs_quant8() -> tuple[Check[object], Check[object]]:
    """Require that a node has operands and results, and that every operand has an 8-bit type."""

    def find_count(node: NodeView) -> str | None:
        counts = len(node.node.inputs), len(node.node.outputs)
        return None if min(counts) > 0 else f"{counts[0]} inputs and {counts[1]} outputs"

    def find_type(node: NodeView) -> str | None:
        for position, tensor in enumerate(node.inputs):
            if tensor.type not in QUANT8:
                return f"input {position} is {tensor.type}"
        return None

    return (
        check(kinds.OPERAND_COUNT, "at least 1 input and 1 output", find_count).from_release("litert-2.3.0"),
        check(kinds.TENSOR_TYPE, "inputs of type UINT8 or INT8", find_type),
    )
