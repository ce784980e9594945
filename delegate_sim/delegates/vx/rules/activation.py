"""Activation functions and normalization."""

from __future__ import annotations

from .checks import vx_rule

_SIMPLE = vx_rule("SimpleOpMapper")

RULES = {
    "ELU": _SIMPLE,
    "GELU": _SIMPLE,
    "HARD_SWISH": _SIMPLE,
    "L2_NORMALIZATION": vx_rule("L2NormalizationMapper"),
    "LEAKY_RELU": vx_rule("LeakyReluMapper"),
    "LOCAL_RESPONSE_NORMALIZATION": vx_rule("LocalResponseNormalizationMapper"),
    "LOGISTIC": _SIMPLE,
    "PRELU": vx_rule("PreluMapper"),
    "RELU": _SIMPLE,
    "RELU6": _SIMPLE,
    "RELU_N1_TO_1": _SIMPLE,
    "SOFTMAX": vx_rule("SoftmaxMapper"),
    "TANH": _SIMPLE,
}
