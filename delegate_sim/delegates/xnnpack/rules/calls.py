"""Variables and composites.

Source: ``VisitVarHandleNode``, ``VisitAssignVariableNode`` and ``VisitReadVariableNode``
(``delegates/xnnpack/xnnpack_delegate.cc``). Before litert-1.3.0, the delegate accepts these operators only with the flag
variable_operators.

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import NEIGHBOR, OPERATOR
from ....rules.operands import OUTPUT, at_least
from ....rules.rule import Check, op_rule
from ....rules.vocabulary import check, check_for_target, rank
from ..target import VALUES, Visit
from .checks import FLOAT_OR_8_BITS_ARITHMETIC, PREPARATION, SOURCE, method, of_types, xnnpack_rule
from .layers import ATTENTION_CHECKS, ATTENTION_SOURCE


def _conflict(node: NodeView, visit: Visit) -> str | None:
    return visit.variables.conflict(node.input(0), VALUES[node.op].tensor(node))


def _unused_handle(node: NodeView, visit: Visit) -> str | None:
    return None if visit.variables.has_value(node) else "no supported node that reads or assigns the variable"


def _without_flag(node: NodeView, visit: Visit) -> str | None:
    return None if visit.target.has("variable_operators") else f"{node.op} without the flag"


_FLAG = check_for_target(
    OPERATOR, "the flag variable_operators", _without_flag, "set the flag variable_operators"
).before_release("litert-1.3.0")
_RECORDED = PREPARATION.with_branch("GetProxyValue")
_ONE_VALUE = check_for_target(
    NEIGHBOR, "an earlier VAR_HANDLE, and the type and shape of earlier nodes that use the variable", _conflict
).from_source(SOURCE.with_symbol("ResourceInfo::AddProxyValue"))

ATTENTION = "odml.scaled_dot_product_attention"


def _other_composite(node: NodeView) -> str | None:
    name = node.options.name or ""
    return None if name == ATTENTION else f"composite {name!r}"


_COMPOSITE: Check[Visit] = check(
    OPERATOR, f"composite {ATTENTION}", _other_composite, "leave other composites to the CPU"
).from_source(SOURCE)

RULES = {
    "ASSIGN_VARIABLE": xnnpack_rule(
        "VisitAssignVariableNode", _FLAG, *of_types(VALUES["ASSIGN_VARIABLE"], FLOAT_OR_8_BITS_ARITHMETIC), _ONE_VALUE
    ),
    "READ_VARIABLE": xnnpack_rule(
        "VisitReadVariableNode", _FLAG, rank(OUTPUT, at_least(1)), *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC), _ONE_VALUE
    ),
    "VAR_HANDLE": xnnpack_rule(
        "VisitVarHandleNode",
        _FLAG,
        check_for_target(
            NEIGHBOR, "a supported READ_VARIABLE or ASSIGN_VARIABLE for the same variable", _unused_handle
        ).from_source(_RECORDED),
    ).from_source(method("VisitVarHandleNode"), _RECORDED),
    "STABLEHLO_COMPOSITE": op_rule(_COMPOSITE, *ATTENTION_CHECKS).from_source(*ATTENTION_SOURCE),
}
