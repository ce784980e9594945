"""Convolutions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import CONSTANT
from ....rules.vocabulary import refused_if, where
from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import runtime_input_count
from .checks import (
    BFLOAT16,
    FUSED,
    ONE_OR_TWO_RUNTIME_INPUTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    SINCE_2_2,
    available,
    float_constant,
    parsed_by,
    quantized_weights,
    readable,
    since,
    tensors,
    version_up_to,
)


def has_runtime_weights(node: NodeView) -> bool:
    """Return whether the weights are computed at run time."""
    return runtime_input_count(node) == 2


def _is_convertible(node: NodeView) -> bool:
    """Return whether the weights have 8 or 4 bits, height 1 and width 1 (``IsConvertibleToFC``)."""
    weights = node.input(1)
    is_matrix = weights.rank == 4 and weights.shape[1:3] == (1, 1)
    is_affine = weights.quantization is not None and weights.quantization.is_affine
    return is_matrix and is_affine and weights.type in ("INT4", "INT8")


_CONSTANT_INPUT = refused_if(
    CONSTANT,
    "an input that is not constant",
    lambda node: node.input(0).is_constant,
    "a constant input",
    "compute the input at run time, or fold the operator",
).saying("input must be a runtime tensor")


RULES = {
    "CONV_2D": parsed_by(
        "Conv2DOperationParser",
        *version_up_to(6),
        *layers.CONV_2D,
        *RESULTS_FROM_2_1_5,
        available(0),
        *readable(0),
        _CONSTANT_INPUT,
        available(1),
        *where(_is_convertible, "with quantized 1x1 weights", quantized_weights(1)),
        *since(SINCE_2_2, *where(has_runtime_weights, "with weights computed at run time", *readable(1))),
        *FUSED,
        *RESULTS_BEFORE_2_1_5,
        all_tensors=tensors(*BFLOAT16),
    ),
    "DEPTHWISE_CONV_2D": parsed_by(
        "DepthwiseConvolutionOperationParser",
        *version_up_to(6),
        *layers.DEPTHWISE_CONV_2D,
        *RESULTS_FROM_2_1_5,
        *readable(0),
        *where(has_runtime_weights, "with weights computed at run time", *readable(1)),
        ONE_OR_TWO_RUNTIME_INPUTS.saying("Unsupported Depthwise Convolution case."),
        *where(lambda node: runtime_input_count(node) == 1, "with constant weights", *float_constant(1, "filter")),
        *FUSED,
        *RESULTS_BEFORE_2_1_5,
    ),
    "TRANSPOSE_CONV": parsed_by(
        "TransposeConvBuiltinOperationParser",
        *version_up_to(3),
        *layers.TRANSPOSE_CONV,
        *readable(2),
        *RESULTS_FROM_2_1_5,
        *where(has_runtime_weights, "with 2 runtime inputs", *readable(1)),
        *where(lambda node: not has_runtime_weights(node), "without 2 runtime inputs", *float_constant(1, "filter")),
        *RESULTS_BEFORE_2_1_5,
    ),
}
