"""What the Hexagon delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``IsNodeSupportedByHexagon`` and ``CheckOpVersion`` (``delegates/hexagon/utils.cc``).
"""

from __future__ import annotations

import functools

from ....graph import NodeView
from ....rules import RuleSet, Verdict, first_failure, rule_set, rules_in, unless_assumed, without_rule
from ....runtime import Release
from ..target import Target
from . import convolution, elementwise, shape
from .checks import EXPLANATIONS, OPERATOR

__all__ = ["EXPLANATIONS", "RULES", "validate"]

RULES: RuleSet = rule_set(elementwise.RULES, convolution.RULES, shape.RULES)

_NEEDED = "an operator that the Hexagon delegate has"
_HINT = "replace the operator, or move it to the beginning or end of the model"


@unless_assumed
def validate(node: NodeView, target: Target) -> Verdict:
    """Return the delegate's verdict on one node, with the first failure, at which the delegate stops."""
    rule = None if node.node.is_custom else _rules_of(target.release).get(node.op)
    if rule is None:
        return without_rule(f"hexagon-{OPERATOR}", OPERATOR, node, _NEEDED, _HINT)
    return first_failure(rule, node, target)


@functools.lru_cache(maxsize=32)
def _rules_of(release: Release) -> RuleSet:
    return rules_in(RULES, release)
