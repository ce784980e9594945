"""What the VX delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``Delegate::SupportedOp`` (``delegate_main.cc``), and the two tables of mappers with what they ask of a node
(``op_map.cc``) in VeriSilicon/tflite-vx-delegate. No mapper looks at an operator's version.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import RuleSet, Verdict, first_failure, rule_set, unless_assumed, without_rule
from . import convolution, custom, elementwise, recurrent, shape
from .checks import CUSTOM_OPERATOR, EXPLANATIONS, OPERATOR
from .variants import lf_5_15_71, lf_6_6_3

__all__ = ["EXPLANATIONS", "NXP_RULES", "RULES", "validate"]

RULES: RuleSet = rule_set(elementwise.RULES, convolution.RULES, shape.RULES, recurrent.RULES, custom.RULES)
"""The rules of VeriSilicon's delegate."""

_LF_6_6_3 = lf_6_6_3(RULES)
NXP_RULES: dict[str, RuleSet] = {"lf-6.6.3": _LF_6_6_3, "lf-5.15.71": lf_5_15_71(_LF_6_6_3)}
"""The rules of NXP's variant by its release, newest first."""


@unless_assumed
def validate(node: NodeView, rules: RuleSet) -> Verdict:
    """Return the delegate's verdict on one node, with the first failure, at which the delegate stops."""
    rule = rules.get(node.op)
    if rule is None or node.node.is_custom != (node.op in custom.RULES):
        return _without_mapper(node)
    return first_failure(rule, node, None)


def _without_mapper(node: NodeView) -> Verdict:
    problem = f"(in the delegate's log: op {node.node.builtin_code}) has no mapper"
    if node.node.is_custom:
        needed = f"the custom operator {custom.COMPILED_NETWORK}, or a builtin one"
        hint = "leave it at the end of the model, or convert without custom operators"
        return without_rule(f"vx-{CUSTOM_OPERATOR}", CUSTOM_OPERATOR, node, needed, hint, problem=problem)
    needed = "an operator that the delegate maps"
    hint = "replace the operator, or move it to the beginning or end of the model"
    return without_rule(f"vx-{OPERATOR}", OPERATOR, node, needed, hint, problem=problem)
