"""What the XNNPACK delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``Subgraph::VisitNode`` and the functions for each operator, as they go without a subgraph to build
(``delegates/xnnpack/xnnpack_delegate.cc``). EXPAND_DIMS has a function there that refuses every node.
"""

from __future__ import annotations

import functools

from ....graph.graph import NodeView
from ....releases.catalogue import Release
from ....rules.rule import ACCEPTED, RuleSet, Verdict, first_failure, rule_set, rules_in, unless_assumed, without_rule
from ..target import Target
from . import convolution, custom, elementwise, matrix, reduction, shape, unpacking, variable
from .checks import EXPLANATIONS, OPERATOR

__all__ = ["EXPLANATIONS", "RULES", "validate", "validate_unpacking"]

RULES: RuleSet = rule_set(
    elementwise.RULES,
    convolution.RULES,
    matrix.RULES,
    shape.RULES,
    reduction.RULES,
    unpacking.RULES,
    variable.RULES,
    custom.RULES,
    custom.COMPOSITES,
)

_NEEDED = "an operator that XNNPACK runs"
_HINT = "leave the node to its CPU kernel"


@functools.lru_cache
def _rules_of(release: Release) -> RuleSet:
    return rules_in(RULES, release)


@unless_assumed
def validate(node: NodeView, target: Target) -> Verdict:
    """Return the delegate's verdict on one node, with the first failure, at which the delegate stops."""
    rule = _rules_of(target.release).get(node.op)
    if rule is None or node.node.is_custom != (node.op in custom.RULES):
        return without_rule(f"xnnpack-{OPERATOR}", OPERATOR, node, _NEEDED, _HINT)
    return first_failure(rule, node, target)


@unless_assumed
def validate_unpacking(node: NodeView, target: Target) -> Verdict:
    """Return the verdict on a node that makes a tensor from constants alone, once all other nodes are visited."""
    reason = unpacking.ACCEPTED_READERS.test(node, target)
    return ACCEPTED if reason is None else Verdict(False, (reason,))
