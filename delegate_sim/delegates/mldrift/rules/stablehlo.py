"""StableHLO operators and custom operators.

If a custom operator and a composite have the same name, a single parser handles the two. The runtime has stubs for some custom
operators. Applications must register all other custom operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.kinds import RANK, SHAPE, TENSOR_TYPE, Kind
from ....rules.operands import operand
from ....rules.rule import LITERT, Check, OpRule, Source
from ....rules.vocabulary import check, rank, typed
from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import COMPATIBILITY, FLOAT, Found, asked, case, operands, runtime_operands
from ..target import LOWERED, SIZE, WITHOUT_KERNEL, BuildProblems, as_measured
from . import ANY_NUMBERS, SIGNED, carrier_tensors, parsed_by, tensors
from .arithmetic import FLOATS_AND_INTEGERS, PAIRS, binary, unread_operands
from .checks import (
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    Checks,
    available,
    float_constant,
    integer_constant,
    integers,
    readable,
    version_up_to,
    with_results,
)
from .composite_layers import normalization
from .composites import ABSOLUTE, ROTARY, carried, composite


def _other_than_first(node: NodeView) -> str | None:
    types = [node.input(position).type for position in range(3)]
    return None if len(set(types)) == 1 else f"types {', '.join(types)}"


def _unlike_operand(compared: int, scalar: int) -> Callable[[NodeView], str | None]:
    # Shapes do not matter if the operand at position ``scalar`` has one element.

    def find(node: NodeView) -> str | None:
        shape, operand_shape = node.input(compared).shape, node.input(1).shape
        if shape == operand_shape or node.input(scalar).element_count == 1:
            return None
        return f"shapes {list(shape)} and {list(operand_shape)}"

    return find


_CLAMP = parsed_by(
    "ClampOperationsParser",
    operands(3, 0, 1),
    check(TENSOR_TYPE, "three operands of the same type", _other_than_first)
    .saying("Clamp tensors must all be the same type")
    .from_source(COMPATIBILITY),
    check(SHAPE, "a minimum that is a scalar or has the shape of the operand", _unlike_operand(0, 0))
    .saying("Min tensor must be the same shape as the input, or a scalar")
    .from_source(COMPATIBILITY),
    check(SHAPE, "a maximum that is a scalar or has the shape of the operand", _unlike_operand(2, 2))
    .saying("Max tensor must be the same shape as the input, or a scalar")
    .from_source(COMPATIBILITY),
    *with_results(*readable(0), *readable(1), *readable(2)),
    all_tensors=FLOATS_AND_INTEGERS,
)
_CBRT = parsed_by(
    "CbrtOperationParser",
    operands(1, 0, 1),
    typed(operand(0), (*FLOAT, "BFLOAT16")).saying("Only support float inputs").from_source(COMPATIBILITY),
    check(
        TENSOR_TYPE,
        "the same type in input and output",
        lambda node: (
            None if node.input(0).type == node.output(0).type else f"{node.input(0).type} input and {node.output(0).type} output"
        ),
    )
    .saying("Input and output types must match")
    .from_source(COMPATIBILITY),
    *with_results(*readable(0)),
    all_tensors=tensors("BFLOAT16"),
)


def _mapping_size(node: NodeView) -> str | None:
    source, dimensions = node.input(0).rank, node.input(1).shape
    return None if source == dimensions[0] else f"{dimensions[0]} dimensions for an input of rank {source}"


def _mapping(node: NodeView) -> Found | None:
    source, result, dimensions = node.input(0).shape, node.output(0).shape, integers(node, 1)
    description = f"dimensions {dimensions} from {list(source)} to {list(result)}"
    for size, dimension in zip(source, dimensions, strict=False):
        if not 0 <= dimension < len(result):
            return description, "Require 0 <= index val < rank(result)"
        if size not in (1, result[dimension]):
            return description, "Requires dim(input, d) = 1 || dim(input, d) = dim(output, index[d])"
    return None if len(set(dimensions)) == len(dimensions) else (description, "Index values must be unique")


def _one_to_four(is_result: bool) -> Check[object]:
    side = "output" if is_result else "input"

    def find(node: NodeView) -> str | None:
        rank = (node.output(0) if is_result else node.input(0)).rank
        return None if 1 <= rank <= 4 else f"{side} of rank {rank}"

    return check(RANK, f"{side} of rank 1 to 4", find).saying(f"Only supports 1D-4D {side} tensor.")


_DIMENSIONS = operand(1, "dimensions")
_BROADCAST_IN_DIM = parsed_by(
    "BroadcastInDimOperationParser",
    *case(
        operands(1, 1, 1).saying("requires one runtime input, one const input, and one output"),
        rank(_DIMENSIONS, 1).saying("Only support 1D indices"),
        typed(_DIMENSIONS, ("INT32",)).saying("Only support int32 indices"),
        check(SHAPE, "one entry of dimensions for each dimension of the input", _mapping_size).saying(
            "Require size(indices) = rank(operand)"
        ),
    ),
    *with_results(
        available(0),
        _one_to_four(is_result=False),
        _one_to_four(is_result=True),
        *integer_constant(1, "linear"),
        asked(
            SHAPE, "a separate output dimension for each input dimension, of the same size unless the input size is 1", _mapping
        ),
        *readable(0),
    ),
    all_tensors=tensors(*ANY_NUMBERS),
)

_INTEGERS = tensors(*SIGNED)

RULES = {
    "STABLEHLO_BROADCAST_IN_DIM": _BROADCAST_IN_DIM,
    "STABLEHLO_CBRT": _CBRT,
    "STABLEHLO_CLAMP": _CLAMP,
    "STABLEHLO_REMAINDER": parsed_by(
        "RemainderOperationParser", *PAIRS, *readable(0), *readable(1), *RESULTS, all_tensors=_INTEGERS
    ),
    "STABLEHLO_SHIFT_LEFT": binary("shift_left", all_tensors=_INTEGERS),
    "STABLEHLO_COMPOSITE": composite(),
}


def _always(kind: Kind) -> Callable[[NodeView], Iterator[Refusal]]:
    return lambda node: iter((kind.failure(node.output(0)),))


BUILD_PROBLEMS: BuildProblems = {"STABLEHLO_SHIFT_LEFT": unread_operands}
WEBGPU_PROBLEMS: BuildProblems = {
    "STABLEHLO_COMPOSITE": _always(LOWERED),
    "AlignmentPointsToTransformMatrix": _always(WITHOUT_KERNEL),
    "TransformTensor": _always(SIZE),
    "TransformTensorBilinear": _always(SIZE),
}


_SUPPORT = Source(LITERT, "ml_drift_delegate/tflite/support/support.cc", "IsCustomNodeSupported")


def _custom(parser: str, *checks: Check[object]) -> OpRule[Any]:
    return parsed_by(parser, *checks, all_tensors=carrier_tensors())


def _normalization(*, with_bias: bool) -> Checks:
    return (*normalization(RESULTS_FROM_2_1_5, with_bias=with_bias), *RESULTS_BEFORE_2_1_5)


def _of_mediapipe(runtime: int) -> OpRule[Any]:
    # The source names these operators only in comments (``IsCustomNodeSupported``). The checks were measured with the binary of
    # LiteRT 2.3.0. The operators may have any number of constants.
    checks = [check.from_source(_SUPPORT) for check in as_measured(runtime_operands(runtime, 1))]
    return OpRule((*checks, *carrier_tensors()), source=(_SUPPORT,)).from_release("litert-2.3.0")


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
    **dict.fromkeys(
        (
            *("AlignmentPointsToTransformMatrix", "KeepIfMax2D", "Landmarks2TransformMatrix", "Landmarks2TransformMatrixV2"),
            "RoIToTransformMatrix",
        ),
        _of_mediapipe(1),
    ),
    **dict.fromkeys(("TransformLandmarks", "TransformTensor", "TransformTensorBilinear"), _of_mediapipe(2)),
    "MaxUnpooling2D": _custom("Unpooling2DOperationParser", *layers.MAX_UNPOOLING, *readable(0), *readable(1), *RESULTS),
    "Resampler": _custom("ResamplerOperationParser", *layers.RESAMPLER, *readable(0), *readable(1), *RESULTS),
    "custom_call.GroupNorm": _custom("GroupNormParser", *_normalization(with_bias=True)),
    "custom_call.LayerNorm": _custom("LayerNormParser", *_normalization(with_bias=True)),
    "custom_call.PixelShuffle": _custom("PixelShuffleParser", *readable(0), *RESULTS),
    "custom_call.RmsNorm": _custom("RmsNormParser", *_normalization(with_bias=False)),
    "custom_call.absolute_positional_embedding": _custom("PositionalEmbeddingParser", *ABSOLUTE),
    "custom_call.rotary_positional_embedding": _custom("RoPEParser", *ROTARY),
    **{
        name: carried(name)
        for name in (
            *("gated_delta_update", "moe", "odml.cache_update", "odml.qkv_norm_rope", "odml.rope", "odml.runtime_bmm"),
            *("odml.sdpa_transposed", "odml.short_conv_step", "odml.swiglu"),
        )
    },
}
"""Custom operators, by name."""
