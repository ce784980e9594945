"""Activation functions and conversions."""

from __future__ import annotations

import math

from ...foundation.float32 import quotient
from ...graph.graph import NodeView
from ...rules.kinds import QUANTIZATION
from ...rules.operands import INPUT, OUTPUT, at_least, at_most, operand
from ...rules.rule import Check
from ...rules.vocabulary import Predicate, check, rank, typed, where
from ..checks import (
    FLOAT32,
    FLOAT32_INT8,
    FLOAT32_INT8_INT16,
    INT8,
    INT8_INT16,
    INT16,
    NO_ACTIVATION,
    ONE_TO_ONE,
    SAME_SHAPES,
    SAME_TYPES,
    binary_exponent,
    quantized,
    scale,
    scales,
    symmetric,
    where_typed,
    zero_point_of,
)
from ..target import TENSOR_TYPE, MicroKernel, in_source

_FRACTION_BITS = 15


def _fraction_scale(node: NodeView) -> str | None:
    return None if binary_exponent(node.output(0)) == -_FRACTION_BITS else f"output with scale {scale(node.output(0)):g}"


_FRACTION = check(QUANTIZATION, "output with scale 1/32768", _fraction_scale, "quantize the output with scale 1/32768")


def _multiplier_exponent(multiplier: float) -> int:
    """Return the exponent of a fixed-point multiplier (``QuantizeMultiplier``)."""
    if multiplier == 0 or math.isnan(multiplier) or math.isinf(multiplier):
        return 0
    fraction, exponent = math.frexp(multiplier)
    if math.floor(fraction * (1 << 31) + 0.5) == 1 << 31:
        exponent += 1
    return 0 if exponent < -31 else exponent


def _large_output_multiplier(node: NodeView) -> str | None:
    multiplier = quotient(scale(node.input(0)) / 128, scale(node.output(0)))
    if _multiplier_exponent(multiplier) <= 0:
        return None
    return f"input with scale {scale(node.input(0)):g} and output with scale {scale(node.output(0)):g}"


def _scale_is(value: float, words: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        return None if scale(node.output(0)) == value else f"output with scale {scale(node.output(0)):g}"

    return check(QUANTIZATION, f"output with scale {words}", find, f"quantize the output with scale {words}")


def _scale_near(value: float, words: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        near = abs(scale(node.output(0)) - value) <= 0.001 * value
        return None if near else f"output with scale {scale(node.output(0)):g}"

    return check(QUANTIZATION, f"output with a scale near {words}", find, f"quantize the output with scale {words}")


def _are(first: str, second: str) -> Predicate:
    return lambda node: node.input(0).type == first and node.output(0).type == second


_SOFTMAX_CHECKS = (
    ONE_TO_ONE,
    rank(INPUT, at_least(1)),
    *where_typed(OUTPUT, INT16, typed(INPUT, INT8_INT16)),
    *where(lambda node: node.output(0).type != "INT16", "if the output is not INT16", SAME_TYPES),
    typed(INPUT, FLOAT32_INT8_INT16),
    *where_typed(INPUT, INT16, *symmetric(OUTPUT, INPUT), _scale_near(1 / 32768, "1/32768")),
    *where(_are("INT8", "INT16"), "from INT8 to INT16", zero_point_of(OUTPUT, -32768), _scale_near(1 / 65536, "1/65536")),
    *where(_are("INT8", "INT8"), "from INT8 to INT8", zero_point_of(OUTPUT, -128), _scale_is(1 / 256, "1/256")),
)

_CAST_TYPES = ("INT8", "INT16", "INT32", "UINT32", "FLOAT32", "BOOL")
_QUANTIZED_TO = {
    "FLOAT32": ("INT8", "INT16"),
    "INT32": ("INT8", "INT16"),
    "INT16": ("INT8", "INT16", "INT32"),
    "INT8": ("INT8", "UINT8", "INT16", "INT32"),
    "UINT8": ("INT8",),
}
"""The supported output types of QUANTIZE, by input type."""


def _several_scales(node: NodeView) -> str | None:
    count = len(scales(node.output(0)))
    return None if count == 1 else f"output with {count} scales"


def _unknown_pair(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if result in _QUANTIZED_TO.get(source, ()) else f"from {source} to {result}"


KERNELS = {
    "ELU": MicroKernel(
        in_source("elu.cc: CalculateOpData", ONE_TO_ONE, SAME_TYPES), in_source("elu.cc: EluEval", typed(INPUT, FLOAT32_INT8))
    ),
    "HARD_SWISH": MicroKernel(
        in_source(
            "hard_swish_common.cc: HardSwishPrepare",
            ONE_TO_ONE,
            *where_typed(
                INPUT, INT8, check(QUANTIZATION, "an input scale of at most 128 times the output scale", _large_output_multiplier)
            ),
        ),
        in_source("hard_swish.cc: HardSwishEval", typed(INPUT, FLOAT32_INT8)),
    ),
    "L2_NORMALIZATION": MicroKernel(
        in_source(
            "l2norm.cc: L2NormPrepare",
            ONE_TO_ONE,
            rank(INPUT, at_most(4)),
            typed(OUTPUT, FLOAT32_INT8),
            SAME_TYPES,
            NO_ACTIVATION,
        ),
        in_source("l2norm.cc: L2NormEval"),
    ),
    "LEAKY_RELU": MicroKernel(
        in_source("leaky_relu_common.cc: CalculateOpDataLeakyRelu", ONE_TO_ONE, SAME_TYPES),
        in_source("leaky_relu.cc: LeakyReluEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
    "LOGISTIC": MicroKernel(
        in_source(
            "logistic_common.cc: CalculateArithmeticOpDataLogistic",
            SAME_TYPES,
            *where_typed(INPUT, INT8, zero_point_of(OUTPUT, -128)),
            *where_typed(INPUT, INT16, *symmetric(INPUT, OUTPUT), _FRACTION),
        ),
        in_source("logistic.cc: LogisticEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
    "LOG_SOFTMAX": MicroKernel(
        in_source(
            "log_softmax.cc: CalculateOpData",
            ONE_TO_ONE,
            SAME_TYPES,
            SAME_SHAPES,
            *where_typed(INPUT, INT8, _scale_is(16 / 256, "1/16"), zero_point_of(OUTPUT, 127)),
        ),
        in_source("log_softmax.cc: LogSoftmaxEval", typed(INPUT, FLOAT32_INT8)),
    ),
    "PRELU": MicroKernel(
        in_source("prelu_common.cc: PreluPrepare", *where_typed(OUTPUT, INT16, typed(operand(1, "alpha"), INT8))),
        in_source("prelu.cc: PreluEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
    "RELU": MicroKernel(
        in_source("activations_common.cc: ReluPrepare", *where_typed(INPUT, INT16, *symmetric(INPUT, OUTPUT))),
        in_source("activations.cc: ReluEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
    "RELU6": MicroKernel(
        in_source("activations_common.cc: Relu6Prepare"), in_source("activations.cc: Relu6Eval", typed(INPUT, FLOAT32_INT8_INT16))
    ),
    "SOFTMAX": MicroKernel(
        in_source("softmax_common.cc: CalculateSoftmaxParams", *_SOFTMAX_CHECKS), in_source("softmax.cc: SoftmaxEval")
    ),
    "TANH": MicroKernel(
        in_source(
            "tanh.cc: CalculateArithmeticOpData",
            ONE_TO_ONE,
            SAME_TYPES,
            *where_typed(INPUT, INT16, *symmetric(INPUT, OUTPUT), _FRACTION),
        ),
        in_source("tanh.cc: TanhEval", typed(INPUT, FLOAT32_INT8_INT16)),
    ),
    "CAST": MicroKernel(
        in_source("cast.cc: CastPrepare", ONE_TO_ONE),
        in_source("cast.cc: CastEval", typed(INPUT, _CAST_TYPES), typed(OUTPUT, _CAST_TYPES)),
    ),
    "DEQUANTIZE": MicroKernel(
        in_source(
            "dequantize_common.cc: DequantizePrepare",
            ONE_TO_ONE,
            typed(INPUT, ("INT8", "INT16", "UINT8")),
            typed(OUTPUT, FLOAT32),
        ),
        in_source("dequantize.cc: DequantizeEval"),
    ),
    "QUANTIZE": MicroKernel(
        in_source(
            "quantize_common.cc: PrepareQuantizeReference",
            ONE_TO_ONE,
            *quantized(OUTPUT),
            check(QUANTIZATION, "output with 1 scale", _several_scales, "quantize the output per tensor"),
            typed(INPUT, tuple(_QUANTIZED_TO)),
            typed(OUTPUT, ("INT8", "INT16", "INT32", "UINT8")),
        ),
        in_source(
            "quantize_common.cc: EvalQuantizeReference",
            check(TENSOR_TYPE, "a supported pair of types, such as FLOAT32 to INT8 or INT16", _unknown_pair, "quantize to int8"),
        ),
    ),
}
