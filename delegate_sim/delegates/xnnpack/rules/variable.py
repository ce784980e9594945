"""Variables: handles, assignments and reads.

Source: ``VisitVarHandleNode``, ``VisitAssignVariableNode`` and ``VisitReadVariableNode``
(``delegates/xnnpack/xnnpack_delegate.cc``). The flag variable_operators has no effect any more: from litert-1.3.0 on they are
always taken.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import OpRule
from ..target import Target
from .checks import (
    FLOAT16_ARITHMETIC,
    FLOAT32_OR_8_BITS,
    NEIGHBOUR,
    OPERATOR,
    OUTPUT,
    RANK,
    check,
    check_for_target,
    operand,
    typed,
)

_FLOAT_OR_8_BITS = FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_ARITHMETIC)


def _conflicting_value(node: NodeView, target: Target) -> str | None:
    return target.variables.conflict(node.input(0), node.input(1))


def _conflicting_output(node: NodeView, target: Target) -> str | None:
    return target.variables.conflict(node.input(0), node.output(0))


def _unused_handle(node: NodeView, target: Target) -> str | None:
    return None if target.variables.has_value(node) else "no accepted node that reads or assigns the variable"


_FLAG = check_for_target(
    OPERATOR,
    "the flag variable_operators",
    lambda node, target: None if target.variable_operators else f"{node.op} without the flag",
    "set the flag variable_operators",
).before_release("litert-1.3.0")

_NEEDS_ONE_KIND = "a VAR_HANDLE before, and the type and shape of the nodes before that read or assign the variable"

RULES = {
    "VAR_HANDLE": OpRule(
        (
            _FLAG,
            check_for_target(NEIGHBOUR, "an accepted READ_VARIABLE or ASSIGN_VARIABLE of its variable", _unused_handle),
        )
    ),
    "ASSIGN_VARIABLE": OpRule(
        (
            _FLAG,
            *typed(operand(1, "value"), _FLOAT_OR_8_BITS),
            check_for_target(NEIGHBOUR, _NEEDS_ONE_KIND, _conflicting_value),
        )
    ),
    "READ_VARIABLE": OpRule(
        (
            _FLAG,
            check(RANK, "output of at least one dimension", lambda node: None if node.output(0).rank else "output of rank 0"),
            *typed(OUTPUT, _FLOAT_OR_8_BITS),
            check_for_target(NEIGHBOUR, _NEEDS_ONE_KIND, _conflicting_output),
        )
    ),
}
