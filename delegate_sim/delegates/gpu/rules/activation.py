"""Activation functions and normalization."""

from __future__ import annotations

from ...gpu_compatibility import activation, arithmetic
from ...gpu_compatibility.checks import runtime_operands
from .checks import UP_TO_1, UP_TO_2, gpu_rule

_ELEMENTWISE = gpu_rule("ElementwiseOperationParser", *arithmetic.UNARY, version_in=UP_TO_2)
_RELU = gpu_rule("ReLUOperationParser", version_in=UP_TO_2, cases=())

RULES = {
    "ELU": _ELEMENTWISE,
    "GELU": _ELEMENTWISE,
    "HARD_SWISH": gpu_rule("HardSwishOperationParser", runtime_operands(1, 1)),
    "LEAKY_RELU": _RELU,
    "LOGISTIC": _ELEMENTWISE,
    "PRELU": gpu_rule("PReLUOperationParser", version_in=UP_TO_1, cases=()),
    "RELU": _RELU,
    "RELU6": _RELU,
    "RELU_0_TO_1": _RELU.from_release("litert-2.1.0"),
    "RELU_N1_TO_1": _RELU,
    "SOFTMAX": gpu_rule("SoftmaxOperationParser", *activation.SOFTMAX, version_in=UP_TO_2),
    "TANH": _ELEMENTWISE,
}
