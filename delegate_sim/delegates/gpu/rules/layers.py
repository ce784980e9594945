"""Convolutions, pooling, resizing, matrix products, LSTM cells and custom operators.

The full form of an LSTM has weights for each gate. The basic form has one weights tensor for all gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ....releases.catalogue import parse_release
from ...gpu_compatibility import checks, layers
from ..model import (
    GATE_SUM,
    HW,
    LINEAR,
    OHWI,
    NodeReader,
    Parser,
    Value,
    build_error,
    consume,
    gpu_shape,
    parse_one_to_one,
    with_size,
)
from . import gpu_rule

_INPUT_TO_INPUT_WEIGHTS, _CELL_TO_FORGET_WEIGHTS = 1, 10
_PROJECTION_WEIGHTS, _PROJECTION_BIAS = 16, 17
_FORGET_NORMALIZATION = 21
_NO_PEEPHOLE = -1

_BASIC_DEPTH_IS_CHECKED = parse_release("litert-2.1.6")
"""From this release on, the last dimension of a basic LSTM's fourth result must be a multiple of 4."""


class _Gate(NamedTuple):
    input_weights: int
    recurrent_weights: int
    peephole: int
    bias: int
    normalization: int


_INPUT_GATE = _Gate(_INPUT_TO_INPUT_WEIGHTS, 5, 9, 12, 20)
_FORGET_GATE = _Gate(2, 6, _CELL_TO_FORGET_WEIGHTS, 13, _FORGET_NORMALIZATION)
_CELL_GATE = _Gate(3, 7, _NO_PEEPHOLE, 14, 22)
_OUTPUT_GATE = _Gate(4, 8, 11, 15, 23)


def _parse_lstm(reader: NodeReader) -> None:
    parse = _parse_full if checks.is_full_lstm(reader.view) else _parse_basic
    parse(reader)


def _parse_basic(reader: NodeReader) -> None:
    reader.read(2, HW)
    reader.read_bias(3)
    node = reader.view.node
    concat, joint, cell = reader.add("CONCAT", 3), reader.add("FULLY_CONNECTED"), reader.add("LSTM")
    reader.values.of(node.output(2))
    depth = reader.values.of(node.output(3)).shape[3]
    if depth % 4 and reader.values.release.is_at_least(_BASIC_DEPTH_IS_CHECKED):
        raise build_error("gpu-build-shape", reader.view.output(3), needed="a last dimension that is a multiple of 4")
    reader.add_input(concat, 0)
    reader.add_input(concat, 1)
    consume(joint, reader.add_output(concat, 2))
    consume(cell, reader.add_output(joint, 3))
    reader.add_input(cell, 4)
    reader.add_output(cell, 1)
    reader.add_output(cell, 0)


def _parse_full(reader: NodeReader) -> None:
    cell_state = reader.value(checks.CELL_STATE)
    if cell_state.shape[0] != 1:
        raise build_error("gpu-build-shape", reader.view.input(checks.CELL_STATE), needed="a batch of 1")
    output_state = reader.value(checks.OUTPUT_STATE)
    gates = [_FORGET_GATE, _CELL_GATE, _OUTPUT_GATE]
    if _has(reader, _INPUT_TO_INPUT_WEIGHTS):
        gates.insert(1, _INPUT_GATE)
    for gate in gates:
        _build_gate(reader, gate, output_state, cell_state)
    update = reader.add("MUL")
    consume(update, cell_state)
    if _has(reader, _PROJECTION_WEIGHTS):
        _read_weights(reader, _PROJECTION_WEIGHTS, bias=_PROJECTION_BIAS)
    reader.add_output(reader.add("COPY"), 0)


def _has(reader: NodeReader, position: int) -> bool:
    return reader.view.input(position).index >= 0


def _build_gate(reader: NodeReader, gate: _Gate, output_state: Value, cell_state: Value) -> None:
    is_normalized = _has(reader, _FORGET_NORMALIZATION)
    _read_weights(reader, gate.input_weights, bias=None if is_normalized else gate.bias)
    reader.add_input(reader.add("FULLY_CONNECTED"), 0)
    _read_weights(reader, gate.recurrent_weights)
    consume(reader.add("FULLY_CONNECTED"), output_state)
    if _has(reader, _CELL_TO_FORGET_WEIGHTS) and gate.peephole != _NO_PEEPHOLE:
        reader.read(gate.peephole, LINEAR)
        if gate is not _OUTPUT_GATE:
            # The output gate reads the new state, and the new state is not a tensor of the graph.
            consume(reader.add("MUL"), cell_state)
    reader.add(GATE_SUM)
    if is_normalized:
        reader.read(gate.normalization, LINEAR)
        reader.read(gate.bias, LINEAR)


def _read_weights(reader: NodeReader, position: int, bias: int | None = None) -> None:
    # Upstream copies INT8 weights with a single scale, without converting them to float (``GetFullyConnectedNode``).
    weights = reader.view.input(position)
    if weights.type == "INT8" and weights.quantization is None:
        raise build_error("gpu-build-unscaled-constant", weights)
    if weights.type == "INT8" and not weights.is_per_channel:
        if not weights.is_constant and weights.element_count:
            raise build_error("gpu-build-runtime-operand", weights)
    else:
        reader.read(position, HW)
    if bias is not None:
        reader.read_bias(bias)


def _parse_conv_2d(reader: NodeReader) -> None:
    # Upstream divides a grouped convolution into a SPLIT, convolutions and a CONCAT. This parser adds a single operation.
    view = reader.view
    channels = gpu_shape(view.input(0))[3]
    has_runtime_weights = checks.runtime_input_count(view) != 1
    weights = gpu_shape(view.input(1)) if has_runtime_weights else reader.read(1, OHWI)
    reader.read_bias(2)
    if has_runtime_weights and channels != weights[3]:
        raise build_error("gpu-build-shape", view.input(1), needed=f"{channels} input channels, without groups")
    operation = reader.add_complete("CONVOLUTION_2D", *((0, 1) if has_runtime_weights else (0,)))
    if not has_runtime_weights and weights[3]:
        operation.attributes = channels // weights[3]
    reader.fuse_activation(operation)


def _parse_depthwise_conv_2d(reader: NodeReader) -> None:
    operation = reader.add_complete("DEPTHWISE_CONVOLUTION")
    if checks.runtime_input_count(reader.view) == 2:
        reader.add_input(operation, 1)
    else:
        reader.read(1, OHWI)
    reader.read_bias(2)
    reader.fuse_activation(operation)
    if checks.runtime_input_count(reader.view) == 2 and reader.view.options.depth_multiplier != 1:
        # Upstream transposes the weights, so it needs their values.
        raise build_error("gpu-build-runtime-operand", reader.view.input(1))


def _parse_transpose_conv(reader: NodeReader) -> None:
    operation = reader.add("CONVOLUTION_TRANSPOSED")
    reader.add_input(operation, 2)
    reader.add_outputs(operation)
    if checks.runtime_input_count(reader.view) == 2:
        reader.add_input(operation, 1)
    else:
        reader.read(1, OHWI)
    reader.read_bias(3)


_POOL = gpu_rule(
    "Pooling2DOperationParser",
    *layers.POOL_2D,
    version_up_to=2,
    cases=(checks.COMPATIBILITY, checks.COMPATIBILITY.with_symbol("CheckPooling2DGpuDelegateCompatibility")),
)


def _parse_pool(reader: NodeReader) -> None:
    reader.fuse_activation(reader.add_complete("POOLING_2D"))


def _parse_fully_connected(reader: NodeReader) -> None:
    if checks.runtime_input_count(reader.view) == 2:
        _parse_runtime_weights(reader)
        return
    operation = reader.add("FULLY_CONNECTED")
    *_, channels = reader.add_input(operation, 0).shape
    _, inputs = reader.read(1, HW)
    reader.read_bias(2)
    if channels != inputs:
        raise build_error(
            "gpu-build-shape", reader.view.input(1), needed=f"as many columns as the input has channels ({channels})"
        )
    reader.add_outputs(operation)
    reader.fuse_activation(operation)


def _parse_runtime_weights(reader: NodeReader) -> None:
    view = reader.view
    operation = reader.add("CONVOLUTION_2D")
    reader.add_input(operation, 0)
    reader.add_input(operation, 1)
    result, shape = with_size(gpu_shape(view.input(0)), 3, gpu_shape(view.input(1))[0]), gpu_shape(view.output(0))
    if result == shape:
        reader.add_outputs(operation)
    else:
        reader.add_reshaped_output(operation, result, 0)
    reader.read_bias(2)
    reader.fuse_activation(operation)


def _parse_batch_matmul(reader: NodeReader) -> None:
    # If the second operand is constant, upstream adds a convolution instead of a matrix product.
    runtime = checks.runtime_input_count(reader.view)
    if runtime == 2:
        reader.add_complete("BATCHED_MATMUL", 0, 1)
        return
    if runtime != 1 or not reader.is_constant(1) or reader.view.input(1).rank != 2:
        raise build_error(
            "gpu-build-shape", reader.view.input(1), needed="a constant of rank 2, or two operands that are not constant"
        )
    reader.add_complete("CONVOLUTION_2D")
    reader.read(1, HW)


_CASES = (checks.COMPATIBILITY, checks.COMPATIBILITY.with_symbol("CheckCustomOpsGpuDelegateCompatibility"))

CUSTOM_RULES = {
    "Convolution2DTransposeBias": gpu_rule("TransposeConvCustomOperationParser", *layers.CUSTOM_TRANSPOSE_CONV, cases=_CASES),
    "MaxPoolingWithArgmax2D": gpu_rule(
        "Pooling2DOperationParser",
        *layers.MAX_POOLING_WITH_ARGMAX,
        version_up_to=2,
        cases=(*_CASES, checks.COMPATIBILITY.with_symbol("CheckPooling2DGpuDelegateCompatibility")),
    ),
    "MaxUnpooling2D": gpu_rule("Unpooling2DOperationParser", *layers.MAX_UNPOOLING, cases=_CASES),
    "Resampler": gpu_rule("ResamplerOperationParser", *layers.RESAMPLER, cases=_CASES),
}


def _parse_transpose_conv_bias(reader: NodeReader) -> None:
    reader.add_complete("CONVOLUTION_TRANSPOSED")
    reader.read(1, OHWI)
    reader.read_bias(2)


def _parse_pool_with_argmax(reader: NodeReader) -> None:
    operation = reader.add("POOLING_2D")
    reader.add_input(operation, 0)
    reader.add_output(operation, 0)
    parameters = checks.custom_pool_parameters(reader.view)
    reader.fuse_activation(operation, parameters.activation if parameters else "NONE")
    reader.add_output(operation, 1)


def _parse_two_operands(kind: str) -> Parser:
    def parse(reader: NodeReader) -> None:
        reader.add_complete(kind, 0, 1)

    return parse


RULES = {
    "LSTM": gpu_rule("LSTMOperationParser", *layers.LSTM, version_up_to=4),
    "CONV_2D": gpu_rule("Conv2DOperationParser", *layers.CONV_2D, version_up_to=6),
    "DEPTHWISE_CONV_2D": gpu_rule(
        "DepthwiseConvolutionOperationParser",
        *layers.DEPTHWISE_CONV_2D,
        version_up_to=6,
        cases=(checks.COMPATIBILITY, checks.COMPATIBILITY.with_symbol("CheckDepthwiseConvGpuDelegateCompatibility")),
    ),
    "TRANSPOSE_CONV": gpu_rule("TransposeConvBuiltinOperationParser", *layers.TRANSPOSE_CONV, version_up_to=3),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _POOL),
    "RESIZE_BILINEAR": gpu_rule("Resize2DOperationParser", *layers.RESIZE_BILINEAR, version_up_to=3),
    "RESIZE_NEAREST_NEIGHBOR": gpu_rule("Resize2DOperationParser", *layers.RESIZE_NEAREST_NEIGHBOR, version_up_to=3),
    "BATCH_MATMUL": gpu_rule("BatchedMatMulOperationParser", *layers.BATCH_MATMUL),
    "FULLY_CONNECTED": gpu_rule("FullyConnectedOperationParser", *layers.FULLY_CONNECTED, version_up_to=9),
}

PARSERS: Mapping[str, Parser] = {
    "LSTM": _parse_lstm,
    "CONV_2D": _parse_conv_2d,
    "DEPTHWISE_CONV_2D": _parse_depthwise_conv_2d,
    "TRANSPOSE_CONV": _parse_transpose_conv,
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _parse_pool),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), parse_one_to_one),
    "BATCH_MATMUL": _parse_batch_matmul,
    "FULLY_CONNECTED": _parse_fully_connected,
    "Convolution2DTransposeBias": _parse_transpose_conv_bias,
    "MaxPoolingWithArgmax2D": _parse_pool_with_argmax,
    "MaxUnpooling2D": _parse_two_operands("MAX_UNPOOLING_2D"),
    "Resampler": _parse_two_operands("RESAMPLER"),
}
