"""Activation functions and SOFTMAX."""

from __future__ import annotations

from ....rules.kinds import ATTRIBUTE
from ....rules.vocabulary import check
from .checks import EIGHT_BITS, SAME_SHAPE, SAME_TYPE, ethosu_rule, upstream

_PLAIN = ethosu_rule()
_POSITIVE_BETA = upstream(
    "ConstraintBetaRange",
    check(ATTRIBUTE, "beta at least 0", lambda node: None if node.options.beta >= 0 else f"beta {node.options.beta:g}"),
)

RULES = {
    "GELU": _PLAIN,
    "HARD_SWISH": ethosu_rule(*EIGHT_BITS, *SAME_TYPE),
    "LEAKY_RELU": _PLAIN,
    "LOGISTIC": _PLAIN,
    "PRELU": ethosu_rule(operands=(0, 1)),
    "RELU": _PLAIN,
    "RELU6": _PLAIN,
    "RELU_N1_TO_1": _PLAIN,
    "SOFTMAX": ethosu_rule(*SAME_TYPE, *SAME_SHAPE, *_POSITIVE_BETA, batches=True),
    "TANH": _PLAIN,
}
