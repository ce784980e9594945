"""Convolutions, pooling, resizing, matrix products and recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....releases.catalogue import parse_release
from ....rules.kinds import CONSTANT, OPERAND_COUNT, RANK
from ....rules.vocabulary import check, operand_count, refused_if, where
from ...gpu_compatibility import bhwc, layers
from ...gpu_compatibility.checks import is_full_lstm, runtime_input_count
from .. import target
from . import parsed_by, quantized_weights, tensors
from .checks import (
    FUSABLE,
    FUSED,
    ONE_OR_TWO_RUNTIME_INPUTS,
    READABLE_RESULT,
    RESULTS,
    Checks,
    available,
    float_constant,
    readable,
    results,
    since,
    version_up_to,
    with_results,
)


def _has_runtime_inputs(number: int) -> Callable[[NodeView], bool]:
    return lambda node: runtime_input_count(node) == number


_has_runtime_weights = _has_runtime_inputs(2)


def _is_convertible(node: NodeView) -> bool:
    weights = node.input(1)
    return weights.rank == 4 and weights.shape[1:3] == (1, 1) and weights.is_affine and weights.type in ("INT4", "INT8")


_CONSTANT_INPUT = refused_if(
    CONSTANT,
    "an input that is not constant",
    lambda node: node.input(0).is_constant,
    "a constant input",
    "compute the input at run time, or fold the operator",
).saying("input must be a runtime tensor")

_POOL = parsed_by("Pooling2DOperationParser", *version_up_to(2), *layers.POOL_2D, *with_results(*readable(0), FUSABLE))


def _second_rank(node: NodeView) -> str | None:
    return None if node.input(1).rank in (2, 3, 4) else f"input 1 of rank {node.input(1).rank}"


_CASE = "Not supported batched mat mul case:"
_ONE_CONSTANT = (
    *readable(0),
    available(1),
    refused_if(
        CONSTANT,
        "the constant as the second input",
        lambda node: not node.input(1).is_constant,
        "a constant as the first input",
        "swap the inputs",
    ).saying(f"{_CASE} non-constant tensor"),
    check(RANK, "a constant of rank 2 to 4", _second_rank).saying(f"{_CASE} second input has unsupported rank"),
    *where(lambda node: node.input(1).rank == 2, "of rank 2", *float_constant(1, "matrix")),
    *where(lambda node: node.input(1).rank in (3, 4), "of rank 3 or 4", *float_constant(1, "any")),
)


def _weights_kind(node: NodeView) -> str:
    quantization = node.input(1).quantization
    return "" if quantization is None else quantization.kind


_FEW_ROWS = 8
"""The largest number of rows for which ML Drift has a kernel that ignores batches."""


def _few_rows(node: NodeView) -> Iterator[Refusal]:
    left, right = node.input(0), node.input(1)
    if node.options.adj_y and min(left.rank, right.rank) > 1:
        rows, columns = left.shape[-1 if node.options.adj_x else -2], right.shape[-2]
        if rows <= _FEW_ROWS and columns % 4:
            yield target.COLUMNS.failure(right)


def _unread_matrices(node: NodeView) -> Iterator[Refusal]:
    for tensor in node.inputs:
        if tensor.is_constant and tensor.type == "INT8" and tensor.quantization is None:
            yield target.CONSTANT_TYPE.failure(tensor)


def _unusable_weights(node: NodeView) -> Iterator[Refusal]:
    weights, bias = node.input(1), node.input(2)
    is_same = len(node.node.inputs) > 1 and node.node.input(0) == node.node.input(1)
    has_runtime_bias = weights.is_constant and node.node.input(2) >= 0 and not bias.is_constant
    has_scales = not weights.is_constant and weights.type == "INT8" and weights.is_per_channel
    if is_same or has_scales:
        yield target.WEIGHTS.failure(weights)
    elif has_runtime_bias and runtime_input_count(node) == 2:
        yield target.CONSTANT_READ.failure(weights)


_BIAS, _TRANSPOSE_CONV_BIAS = 2, 3


def _fully_connected(node: NodeView) -> Iterator[Refusal]:
    yield from target.unread_constants(node, (_BIAS,))
    yield from _unusable_weights(node)
    # A product with quantized weights reads more than ``_FEW_ROWS`` rows as batches. The same line was seen with OpenCL on a
    # Mali GPU (LiteRT issue 9277), and with WebGPU.
    weights, source, result = node.input(1), bhwc(node.input(0).shape), bhwc(node.output(0).shape)
    if weights.is_constant and weights.is_affine and source.b == 1 and result.b > 1 and source.h * source.w > _FEW_ROWS:
        yield replace(target.BATCH.failure(node.output(0)), hint="keep the dimensions of the input, and reshape the result")


_OUTPUT_STATE, _CELL_STATE = 18, 19
_INPUT_TO_INPUT, _CELL_TO_FORGET = 1, 10


def _has_operand(position: int) -> Callable[[NodeView], bool]:
    return lambda node: position < len(node.node.inputs) and node.node.input(position) >= 0


def _weights(position: int) -> Checks:
    def is_read(node: NodeView) -> bool:
        # ML Drift does not convert INT8 weights with one scale to float.
        return node.input(position).type != "INT8" or node.input(position).is_per_channel

    return (available(position), *where(is_read, "unless it is INT8 with one scale", *float_constant(position, "matrix")))


def _gate(source: int, recurrent_weights: int, bias: int, normalization: int, peephole: int | None) -> Checks:
    peephole_checks: Checks = ()
    if peephole is not None:
        peephole_checks = where(_has_operand(_CELL_TO_FORGET), "with peepholes", *float_constant(peephole, "linear"))
    return (
        *_weights(source),
        *_weights(recurrent_weights),
        *peephole_checks,
        *float_constant(normalization, "linear"),
        *float_constant(bias, "linear"),
    )


_FULL: Checks = (
    *readable(_CELL_STATE),
    *readable(_OUTPUT_STATE),
    *_gate(2, 6, 13, 21, 10),
    *where(_has_operand(_INPUT_TO_INPUT), "with an input gate", *_gate(1, 5, 12, 20, 9)),
    *_gate(3, 7, 14, 22, None),
    *_gate(4, 8, 15, 23, 11),
    *READABLE_RESULT,
)
_BASIC: Checks = (
    check(
        OPERAND_COUNT, "5 inputs", lambda node: None if len(node.node.inputs) == 5 else f"{len(node.node.inputs)} inputs"
    ).saying("LSTM should have 5 input tensors"),
    operand_count(outputs=4).saying("LSTM should have 4 output tensors"),
    *float_constant(2, "matrix"),
    *readable(0),
    *readable(1),
    *readable(4),
)

_RESERVED_CHANNELS = 4
"""The number of input channels of a group for which ML Drift reserves memory."""


def _split_groups(node: NodeView) -> Iterator[Refusal]:
    yield from target.unread_constants(node, (_BIAS,))
    shapes = node.input(0).shape, node.input(1).shape, node.output(0).shape
    if node.input(1).is_constant and target.are_groups_split(*shapes) and target.groups_of(*shapes)[1] > _RESERVED_CHANNELS:
        yield target.GROUPS.failure(node.output(0))


def _depthwise(node: NodeView) -> Iterator[Refusal]:
    yield from target.unread_constants(node, (_BIAS,))
    if _has_runtime_weights(node) and not node.input(1).is_constant and node.options.depth_multiplier != 1:
        yield target.WEIGHTS.failure(node.input(1))


RULES = {
    "CONV_2D": parsed_by(
        "Conv2DOperationParser",
        *version_up_to(6),
        *layers.CONV_2D,
        *with_results(
            available(0),
            *readable(0),
            _CONSTANT_INPUT,
            available(1),
            *where(_is_convertible, "with quantized 1x1 weights", quantized_weights(1)),
            *since("litert-2.2.0", *where(_has_runtime_weights, "with weights computed at run time", *readable(1))),
            *FUSED,
        ),
        all_tensors=tensors("BFLOAT16"),
    ),
    "DEPTHWISE_CONV_2D": parsed_by(
        "DepthwiseConvolutionOperationParser",
        *version_up_to(6),
        *layers.DEPTHWISE_CONV_2D,
        *with_results(
            *readable(0),
            *where(_has_runtime_weights, "with weights computed at run time", *readable(1)),
            ONE_OR_TWO_RUNTIME_INPUTS.saying("Unsupported Depthwise Convolution case."),
            *where(_has_runtime_inputs(1), "with constant weights", *float_constant(1, "filter")),
            *FUSED,
        ),
    ),
    "TRANSPOSE_CONV": parsed_by(
        "TransposeConvBuiltinOperationParser",
        *version_up_to(3),
        *layers.TRANSPOSE_CONV,
        *readable(2),
        *with_results(
            *where(_has_runtime_weights, "with 2 runtime inputs", *readable(1)),
            *where(lambda node: not _has_runtime_weights(node), "without 2 runtime inputs", *float_constant(1, "filter")),
        ),
    ),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _POOL),
    "RESIZE_BILINEAR": parsed_by("Resize2DOperationParser", *version_up_to(3), *layers.RESIZE_BILINEAR, *readable(0), *RESULTS),
    "RESIZE_NEAREST_NEIGHBOR": parsed_by(
        "Resize2DOperationParser", *version_up_to(3), *layers.RESIZE_NEAREST_NEIGHBOR, *readable(0), *RESULTS
    ),
    "BATCH_MATMUL": parsed_by(
        "BatchedMatMulOperationParser",
        *layers.BATCH_MATMUL,
        results(1),
        *with_results(
            *where(_has_runtime_inputs(1), "for 1 runtime input", *_ONE_CONSTANT),
            *where(_has_runtime_inputs(2), "for 2 runtime inputs", *readable(0), *readable(1)),
            ONE_OR_TWO_RUNTIME_INPUTS.saying(f"{_CASE} too many inputs"),
        ),
    ),
    "FULLY_CONNECTED": parsed_by(
        "FullyConnectedOperationParser",
        *version_up_to(14),
        *layers.FULLY_CONNECTED,
        *with_results(
            available(0),
            *readable(0),
            available(1),
            *where(lambda node: _weights_kind(node) == "affine", "with quantized weights", quantized_weights(1)),
            *where(lambda node: _weights_kind(node) not in ("affine", "blockwise"), "with other weights", *readable(1)),
            *FUSED,
        ),
    ),
    "LSTM": parsed_by(
        "LSTMOperationParser",
        *version_up_to(4),
        *layers.LSTM,
        *with_results(
            *where(is_full_lstm, "in the full form", *_FULL),
            *where(lambda node: not is_full_lstm(node), "in the basic form", *_BASIC),
        ),
    ),
}

BUILD_PROBLEMS: target.BuildProblems = {
    "CONV_2D": _split_groups,
    "DEPTHWISE_CONV_2D": _depthwise,
    "BATCH_MATMUL": _unread_matrices,
    "FULLY_CONNECTED": _fully_connected,
    "TRANSPOSE_CONV": lambda node: target.unread_constants(node, (_TRANSPOSE_CONV_BIAS,)),
}
FORMER_PROBLEMS: target.FormerProblems = {"BATCH_MATMUL": (parse_release("litert-2.1.5"), _few_rows)}
UNSHARED_PROBLEMS: target.BuildProblems = {"FULLY_CONNECTED": target.blockwise_weights}
