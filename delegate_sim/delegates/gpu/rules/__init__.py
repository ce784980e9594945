"""What the GPU delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``NewOperationParser`` with each parser's ``IsSupported``, the function around them in ``GetOpsToReplace``
(``delegates/gpu/common/model_builder.cc``), and ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``). That function also knows operators without a parser, which the delegate never
takes. What it asks of builtin options beyond their values, that there are any, always holds: the runtime allocates them.
"""

from __future__ import annotations

from ....graph import NodeView
from ....rules import OpRule, Reason, Verdict, first_failure, rule_set
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


def validate(node: NodeView, target: Target) -> Verdict:
    """Return the delegate's verdict on one node, with the first failure, at which the delegate stops."""
    if ("CUSTOM" if node.node.is_custom else node.op) in target.excluded_ops:
        return Verdict(False, (_excluded(node),))
    rule = RULES.get(node.op)
    if rule is None or node.node.is_custom != (node.op in custom.RULES):
        return Verdict(False, (_without_parser(node),))
    return first_failure(rule, node, target)


def _name(node: NodeView) -> str:
    return f"custom operator {node.op}" if node.node.is_custom else node.op


def _without_parser(node: NodeView) -> Reason:
    found = _name(node)
    return Reason(
        f"gpu-{OPERATOR}",
        OPERATOR,
        f"{found} is not supported",
        found,
        "an operator that the GPU delegate has",
        "replace the operator, or move it to the beginning or end of the model",
    )


def _excluded(node: NodeView) -> Reason:
    found = _name(node)
    return Reason(
        f"gpu-{OPERATOR}",
        OPERATOR,
        f"{found} is left out: excluded_ops names it, or OpenGL does not run it",
        found,
        "an operator that is not left out",
        "use OpenCL for SPLIT and SPLIT_V, and do not name the operator in excluded_ops",
    )
