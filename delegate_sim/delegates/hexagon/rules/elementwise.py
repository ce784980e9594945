"""Arithmetic, activations, normalisation, reduction and quantisation (``delegates/hexagon/utils.cc``)."""

from __future__ import annotations

from .checks import (
    INT32,
    NO_ACTIVATION,
    ONLY_VERSION_2,
    QUANT8,
    RELU_ACTIVATION,
    constant,
    hexagon_rule,
    hexagon_rules,
    inputs,
)

_ONE = inputs(QUANT8)
_TWO = inputs(QUANT8, QUANT8)
_WITH_AXES = inputs(QUANT8, INT32)
_INT8 = ("INT8",)

RULES = {
    **hexagon_rules(("ADD", "MUL", "SUB"), *_TWO, RELU_ACTIVATION, version=2),
    **hexagon_rules(("MINIMUM", "MAXIMUM"), *_TWO, version=2),
    "SQUARED_DIFFERENCE": hexagon_rule(*inputs(_INT8, _INT8), version=ONLY_VERSION_2),
    **hexagon_rules(("LOGISTIC", "RELU6", "TANH", "SOFTMAX", "QUANTIZE"), *_ONE, version=2),
    **hexagon_rules(("HARD_SWISH", "NEG"), *_ONE),
    "RELU": hexagon_rule(*_ONE, version=ONLY_VERSION_2),
    "RSQRT": hexagon_rule(*inputs(_INT8), version=ONLY_VERSION_2),
    "L2_NORMALIZATION": hexagon_rule(*_ONE, NO_ACTIVATION, version=2),
    "MEAN": hexagon_rule(*_WITH_AXES, constant(1, "axis"), version=2),
    **hexagon_rules(("ARG_MAX", "ARG_MIN"), *_WITH_AXES, version=2),
}
