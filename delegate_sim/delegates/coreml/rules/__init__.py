"""What the Core ML delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``IsNodeSupportedByDelegate`` (``delegates/coreml/coreml_delegate.mm``) and the functions of
``delegates/coreml/builders/op_validator.h``.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import RuleSet, Verdict, first_failure, rule_set, unless_assumed, without_rule
from ..target import Target
from . import convolution, elementwise, shape
from .checks import EXPLANATIONS, OPERATOR

__all__ = ["EXPLANATIONS", "RULES", "validate"]

RULES: RuleSet = rule_set(elementwise.RULES, convolution.RULES, shape.RULES)

_NEEDED = "an operator that the Core ML delegate has"
_HINT = "replace the operator, or move it to the beginning or end of the model"


@unless_assumed
def validate(node: NodeView, target: Target) -> Verdict:
    """Return the delegate's verdict on one node, with the first failure, at which the delegate stops."""
    rule = None if node.node.is_custom else RULES.get(node.op)
    if rule is None:
        return without_rule(f"coreml-{OPERATOR}", OPERATOR, node, _NEEDED, _HINT)
    return first_failure(rule, node, target)
