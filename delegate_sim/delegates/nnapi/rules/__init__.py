"""What the NNAPI delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``NNAPIDelegateKernel::Validate`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

import functools

from ....graph.graph import NodeView
from ....releases.catalogue import Release
from ....rules.rule import ACCEPTED, Check, OpRule, RuleSet, Verdict, rule_set, rules_in, unless_assumed, without_rule
from ..target import Target
from . import activation, arithmetic, convolution, recurrent, reduction, shape
from .checks import EXPLANATIONS

__all__ = ["EXPLANATIONS", "RULES", "validate"]

RULES: dict[str, OpRule] = rule_set(
    arithmetic.RULES, activation.RULES, convolution.RULES, shape.RULES, reduction.RULES, recurrent.RULES
)

_NEEDED = "an operator that NNAPI has"
_HINT = "replace the operator, or let another delegate take it"


@unless_assumed
def validate(node: NodeView, target: Target) -> Verdict:
    """Return the delegate's verdict on one node, with every failure in its order."""
    checks = _checks_for(node.op, target) if not node.node.is_custom else None
    if checks is None:
        return without_rule("nnapi-operator", "kUnsupportedOperator", node, _NEEDED, _HINT, problem="is not mapped")
    accepted_early, demands = checks
    if accepted_early is not None and accepted_early.finder(node, target) is None:
        return ACCEPTED
    reasons = [reason for check in demands if (reason := check.test(node, target)) is not None]
    return Verdict(False, tuple(reasons)) if reasons else ACCEPTED


@functools.lru_cache(maxsize=4096)
def _checks_for(op: str, target: Target) -> tuple[Check | None, tuple[Check, ...]] | None:
    rule = _rules_of(target.release).get(op)
    if rule is None:
        return None
    early = rule.accepted_early
    if early is not None and not early.counts_at(target.level, target.accelerator):
        early = None
    return early, tuple(check for check in rule.checks if check.counts_at(target.level, target.accelerator))


@functools.lru_cache(maxsize=32)
def _rules_of(release: Release) -> RuleSet:
    return rules_in(RULES, release)
