"""Activation functions and normalization."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE
from ....rules.vocabulary import check
from .checks import coreml_rule


def _beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1.0 else f"beta {node.options.beta:g}"


RULES = {
    "HARD_SWISH": coreml_rule(),
    "LOGISTIC": coreml_rule(),
    "RELU": coreml_rule(),
    "RELU6": coreml_rule(),
    "RELU_N1_TO_1": coreml_rule(),
    "SOFTMAX": coreml_rule(check(ATTRIBUTE, "beta 1", _beta, "set beta to 1, and scale the input with a MUL")),
    "TANH": coreml_rule(),
}
