"""Custom operators.

If a custom operator and a composite have the same name, a single parser handles the two. The runtime has stubs for some custom
operators. Applications must register all other custom operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.rule import LITERT, Check, OpRule, Source
from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import runtime_operands
from ..target import SIZE, WITHOUT_KERNEL, BuildProblems, as_measured
from .checks import (
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    Checks,
    float_constant,
    readable,
    version_up_to,
    with_results,
)
from .composite_layers import normalization
from .composites import ABSOLUTE, ROTARY, carried
from .tensors import carrier_tensors, parsed_by

_SUPPORT = Source(LITERT, "ml_drift_delegate/tflite/support/support.cc", "IsCustomNodeSupported")


def _custom(parser: str, *checks: Check[object]) -> OpRule[Any]:
    return parsed_by(parser, *checks, all_tensors=carrier_tensors())


def _normalization(*, with_bias: bool) -> Checks:
    return (*normalization(RESULTS_FROM_2_1_5, with_bias=with_bias), *RESULTS_BEFORE_2_1_5)


def _of_mediapipe(runtime: int) -> OpRule[Any]:
    """Return the rule of a MediaPipe operator with this number of runtime inputs and any number of constants.

    The source names these operators only in comments (``IsCustomNodeSupported``). The checks were measured with the binary of
    LiteRT 2.3.0.
    """
    checks = [check.from_source(_SUPPORT) for check in as_measured(runtime_operands(runtime, 1))]
    return OpRule((*checks, *carrier_tensors()), source=(_SUPPORT,)).from_release("litert-2.3.0")


def _size_not_read(node: NodeView) -> Iterator[Refusal]:
    yield SIZE.failure(node.output(0))


def _without_kernel(node: NodeView) -> Iterator[Refusal]:
    yield WITHOUT_KERNEL.failure(node.output(0))


WEBGPU_PROBLEMS: BuildProblems = {
    "AlignmentPointsToTransformMatrix": _without_kernel,
    "TransformTensor": _size_not_read,
    "TransformTensorBilinear": _size_not_read,
}

CUSTOM_RULES: dict[str, OpRule[Any]] = {
    "Convolution2DTransposeBias": _custom(
        "TransposeConvCustomOperationParser",
        *layers.CUSTOM_TRANSPOSE_CONV,
        *readable(0),
        *with_results(*float_constant(1, "filter")),
    ),
    "MaxPoolingWithArgmax2D": _custom(
        "Pooling2DOperationParser", *version_up_to(2), *layers.MAX_POOLING_WITH_ARGMAX, *with_results(*readable(0))
    ),
    "AlignmentPointsToTransformMatrix": _of_mediapipe(1),
    "KeepIfMax2D": _of_mediapipe(1),
    "Landmarks2TransformMatrix": _of_mediapipe(1),
    "Landmarks2TransformMatrixV2": _of_mediapipe(1),
    "RoIToTransformMatrix": _of_mediapipe(1),
    "TransformLandmarks": _of_mediapipe(2),
    "TransformTensor": _of_mediapipe(2),
    "TransformTensorBilinear": _of_mediapipe(2),
    "MaxUnpooling2D": _custom("Unpooling2DOperationParser", *layers.MAX_UNPOOLING, *readable(0), *readable(1), *RESULTS),
    "Resampler": _custom("ResamplerOperationParser", *layers.RESAMPLER, *readable(0), *readable(1), *RESULTS),
    "custom_call.GroupNorm": _custom("GroupNormParser", *_normalization(with_bias=True)),
    "custom_call.LayerNorm": _custom("LayerNormParser", *_normalization(with_bias=True)),
    "custom_call.PixelShuffle": _custom("PixelShuffleParser", *readable(0), *RESULTS),
    "custom_call.RmsNorm": _custom("RmsNormParser", *_normalization(with_bias=False)),
    "custom_call.absolute_positional_embedding": _custom("PositionalEmbeddingParser", *ABSOLUTE),
    "custom_call.rotary_positional_embedding": _custom("RoPEParser", *ROTARY),
    "gated_delta_update": carried("gated_delta_update", "litert-2.3.0"),
    "moe": carried("moe", "litert-2.2.0"),
    "odml.cache_update": carried("odml.cache_update"),
    "odml.qkv_norm_rope": carried("odml.qkv_norm_rope", "litert-2.3.0"),
    "odml.rope": carried("odml.rope", "litert-2.2.0"),
    "odml.runtime_bmm": carried("odml.runtime_bmm"),
    "odml.sdpa_transposed": carried("odml.sdpa_transposed", "litert-2.2.0"),
    "odml.short_conv_step": carried("odml.short_conv_step", "litert-2.3.0"),
    "odml.swiglu": carried("odml.swiglu", "litert-2.3.0"),
}
"""Custom operators, by name."""
