"""What the GPU delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``NewOperationParser`` with each parser's ``IsSupported``, the function around them in ``GetOpsToReplace``
(``delegates/gpu/common/model_builder.cc``), and ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``). That function also knows operators without a parser, which the delegate never
takes. What it asks of builtin options beyond their values, that there are any, always holds: the runtime allocates them.
"""

from __future__ import annotations

import functools

from ....graph.graph import NodeView
from ....releases.catalogue import Release
from ....rules.rule import OpRule, RuleSet, Verdict, first_failure, rule_set, rules_in, unless_assumed, without_rule
from ..target import Target
from . import convolution, custom, elementwise, quantization, recurrent, reduction, shape
from .checks import EXPLANATIONS, OPERATOR

__all__ = ["EXPLANATIONS", "RULES", "validate"]

RULES: dict[str, OpRule] = rule_set(
    elementwise.RULES,
    convolution.RULES,
    shape.RULES,
    reduction.RULES,
    quantization.RULES,
    recurrent.RULES,
    custom.RULES,
)

_NEEDED = "an operator that the GPU delegate has"
_HINT = "replace the operator, or move it to the beginning or end of the model"
_NEEDED_NOT_EXCLUDED = "an operator that is not left out"
_HINT_EXCLUDED = "use OpenCL for SPLIT and SPLIT_V, and do not name the operator in excluded_ops"


@unless_assumed
def validate(node: NodeView, target: Target) -> Verdict:
    """Return the delegate's verdict on one node, with the first failure, at which the delegate stops."""
    if ("CUSTOM" if node.node.is_custom else node.op) in target.excluded_ops:
        problem = "is left out: excluded_ops names it, or OpenGL does not run it"
        return without_rule(f"gpu-{OPERATOR}", OPERATOR, node, _NEEDED_NOT_EXCLUDED, _HINT_EXCLUDED, problem=problem)
    rule = _rules_of(target.release).get(node.op)
    if rule is None or node.node.is_custom != (node.op in custom.RULES):
        return without_rule(f"gpu-{OPERATOR}", OPERATOR, node, _NEEDED, _HINT)
    return first_failure(rule, node, target)


@functools.lru_cache(maxsize=32)
def _rules_of(release: Release) -> RuleSet:
    return rules_in(RULES, release)
