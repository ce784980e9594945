"""Activation functions and normalization."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import runtime_operands
from ..build.reader import HWC, LINEAR, NodeReader, Parser, parse_one_to_one
from ..failures import build_error
from .arithmetic import parse_one_operand
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
    "SOFTMAX": gpu_rule("SoftmaxOperationParser", *arithmetic.SOFTMAX, version_in=UP_TO_2),
    "TANH": _ELEMENTWISE,
}


# Building the model


def parse_prelu(reader: NodeReader) -> None:
    """Parse PRELU (``PReLUOperationParser``). The slopes have the shape [channels] or [height, width, channels]."""
    operation = reader.add("PRELU")
    _, *sizes = reader.add_input(operation, 0).shape
    slopes = reader.view.input(1)
    layout = LINEAR if LINEAR.sizes(slopes.shape) is not None else HWC
    actual = reader.read(1, layout)
    expected = tuple(sizes[-1:] if layout is LINEAR else sizes)
    if actual != expected:
        raise build_error("gpu-build-shape", slopes, needed=f"shape {list(expected)}")
    reader.add_outputs(operation)


PARSERS: Mapping[str, Parser] = {
    "ELU": parse_one_operand,
    "GELU": parse_one_operand,
    "HARD_SWISH": parse_one_to_one,
    "LEAKY_RELU": parse_one_to_one,
    "LOGISTIC": parse_one_operand,
    "PRELU": parse_prelu,
    "RELU": parse_one_to_one,
    "RELU6": parse_one_to_one,
    "RELU_0_TO_1": parse_one_to_one,
    "RELU_N1_TO_1": parse_one_to_one,
    "SOFTMAX": parse_one_to_one,
    "TANH": parse_one_operand,
}
