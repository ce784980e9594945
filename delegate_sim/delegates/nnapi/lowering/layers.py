"""Convolutions, pooling, resizing, matrix products and recurrent layers."""

from __future__ import annotations

from collections.abc import Iterable

from ....graph.graph import NodeView
from ....model.model import Node
from ....nnapi_runtime.types import OperandType
from ..target import NNAPI_1_3, hybrid_with_weights, is_basic_lstm, is_full_lstm, is_hybrid_lstm
from . import Lowering, Lowerings, activation_code, add_zero_bias, first_integer, padding_code, with_scalars
from .builder import PartitionBuilder, kernel_error
from .node import CONVERT_INT8, PER_CHANNEL, REPEATED_SCALE, SIGNED, LoweredNode, OperandTraits, first_is_int8, weights_are_int8

_T = OperandType
_SHARED_INPUTS = 20
"""Number of operands of an LSTM without layer normalization."""
_LSTM_WEIGHTS = (*range(1, 18), *range(20, 24))
"""Positions of the operands that are dequantized if the input is float."""


def _add_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    if is_basic_lstm(node.view):
        _add_basic_lstm(builder, node)
    elif builder.target_feature_level >= NNAPI_1_3 and is_full_lstm(node.view) and node.view.input(0).type == "INT8":
        _add_quantized_lstm(builder, node)
    else:
        _add_full_lstm(builder, node)


def _add_full_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    count = len(node.inputs)
    _add_given(builder, node, range(min(_SHARED_INPUTS, count) if is_full_lstm(node.view) else len(node.inputs)))
    _add_clipping(builder, node)
    builder.add_result(_T.TENSOR_FLOAT32, (0, 0))
    for position in range(18, min(20, count)):
        builder.add_state(node, position)
    if count == 24:
        _add_layer_normalization(builder, node)
    builder.add_outputs(node)
    builder.add_dequantized_weights(node, _LSTM_WEIGHTS)
    builder.add_operation(node, "LSTM")


def _add_basic_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower a basic LSTM.

    Weights and biases are split by gate. NNAPI's two results are in the reverse order of TFLite's results.
    """
    builder.add_unchecked_input(node, 0)
    weights, biases = node.view.input(2), node.view.input(3)
    rows, columns = (*weights.shape, 0, 0)[:2]
    depth = rows // 4
    for width in (*[columns - depth] * 4, *[depth] * 4):
        shape = (depth, max(width, 0))
        builder.add_constant(_T.TENSOR_QUANT8_ASYMM, shape, shape[0] * shape[1], weights.scale, weights.zero_point)
    count = (*node.view.output(1).shape, 0, 0)[1]
    for _ in range(4):
        builder.add_constant(_T.TENSOR_INT32, (count,), 4 * count, biases.scale, biases.zero_point)
    builder.add_unchecked_input(node, 4)
    builder.add_unchecked_input(node, 1)
    builder.add_unchecked_output(node, 1)
    builder.add_unchecked_output(node, 0)
    builder.add_dequantized_weights(node, _LSTM_WEIGHTS)
    builder.add_operation(node, "QUANTIZED_16BIT_LSTM")


_SYMMETRIC_WEIGHTS = frozenset({1, 5, 16})
_BIASES = frozenset({12, 13, 14, 15, 17})
_SIGNED_OPERANDS = frozenset({0, 18})


def _add_quantized_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower a fully quantized LSTM. ``AddOpsAndTensors`` does not call ``Map`` for this LSTM."""
    for position, index in enumerate(node.inputs):
        if index >= 0:
            builder.add_flagged_input(node, position, SIGNED if position in _SIGNED_OPERANDS else 0)
        elif position in _SYMMETRIC_WEIGHTS:
            builder.leave_out(_T.TENSOR_QUANT8_SYMM, 1.0)
        elif position in _BIASES:
            builder.leave_out(_T.TENSOR_INT32)
        else:
            builder.leave_out(_T.TENSOR_QUANT16_SYMM, 1.0)
    builder.add_float(node.options.cell_clip)
    builder.add_float(node.options.proj_clip)
    intermediates = node.view.node.intermediates
    if len(intermediates) != 5:
        raise kernel_error("nnapi-lstm-intermediates", node.index, count=len(intermediates))
    for position, index in enumerate(intermediates):
        tensor = builder.graph.tensor(index)
        if position == 4:
            builder.add_int(tensor.zero_point)
        builder.add_float(tensor.scale)
    builder.add_state(node, 18, _T.TENSOR_QUANT8_ASYMM_SIGNED, has_quantization=True)
    builder.add_state(node, 19, _T.TENSOR_QUANT16_SYMM, has_quantization=True)
    for position in range(len(node.outputs)):
        builder.add_output(node, position, SIGNED)
    builder.add_operation(node, "QUANTIZED_LSTM")


def _add_sequence_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    _add_given(builder, node, range(min(_SHARED_INPUTS, len(node.inputs))))
    _add_clipping(builder, node)
    builder.add_bool(node.options.time_major)
    if len(node.inputs) == 24:
        _add_layer_normalization(builder, node)
    else:
        for _ in range(4):
            builder.leave_out()
    builder.finish(node)


def _add_bidirectional_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower a bidirectional LSTM.

    The operands for layer normalization are empty, because this TFLite operator has no layer normalization.
    """
    _add_given(builder, node, range(len(node.inputs)))
    _add_clipping(builder, node)
    builder.add_bool(node.options.merge_outputs)
    builder.add_bool(node.options.time_major)
    for _ in range(8):
        builder.leave_out()
    builder.finish(node)


def _add_rnn(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_state(node, 4)
    builder.add_int(activation_code(node))
    builder.finish(node)


def _add_svdf(builder: PartitionBuilder, node: LoweredNode) -> None:
    _add_given(builder, node, range(len(node.inputs)))
    builder.add_state(node, 4)
    builder.add_int(node.options.rank)
    builder.add_int(activation_code(node))
    builder.finish(node)


def _add_given(builder: PartitionBuilder, node: LoweredNode, positions: Iterable[int]) -> None:
    for position in positions:
        if node.operand(position) >= 0:
            builder.add_input(node, position)
        else:
            builder.leave_out()


def _add_clipping(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_int(activation_code(node))
    builder.add_float(node.options.cell_clip)
    builder.add_float(node.options.proj_clip)


def _add_layer_normalization(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position in range(20, 24):
        if node.operand(position) >= 0:
            builder.add_unchecked_input(node, position, is_hybrid=node.is_hybrid)
        else:
            builder.leave_out()


_SEQUENCE_LSTM = OperandTraits(is_hybrid=hybrid_with_weights(2))

_WEIGHTS = (1, 2)
"""Positions of the operands that are dequantized if the input is float."""


def _add_convolution(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    _add_inputs_with_dense_weights(builder, node)
    builder.add_scalars(padding_code(node), options.stride_w, options.stride_h)
    groups = _groups(node)
    builder.add_scalars(*([] if groups is None else [groups]), activation_code(node))
    _add_dilation(builder, node)
    builder.add_outputs(node)
    builder.add_dequantized_weights(node, _WEIGHTS)
    builder.add_operation(node, "CONV_2D" if groups is None else "GROUPED_CONV_2D")


def _add_depthwise_convolution(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    builder.add_inputs(node)
    builder.add_scalars(padding_code(node), options.stride_w, options.stride_h, options.depth_multiplier, activation_code(node))
    _add_dilation(builder, node)
    builder.finish(node)


def _add_transpose_convolution(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower TRANSPOSE_CONV. Weights with a single scale are treated as quantized per channel."""
    options, source = node.options, node.view.input(2)
    builder.add_unchecked_input(node, 2, SIGNED if builder.target_feature_level >= NNAPI_1_3 else CONVERT_INT8)
    builder.add_unchecked_input(node, 1, PER_CHANNEL | (REPEATED_SCALE if source.type == "FLOAT32" else 0))
    if len(node.inputs) == 4 and node.operand(3) >= 0:
        builder.add_unchecked_input(node, 3)
    else:
        add_zero_bias(builder, node, 2, 1, first_integer(node.view, 0, 3))
    builder.add_unchecked_input(node, 0)
    builder.add_scalars(padding_code(node), options.stride_w, options.stride_h, activation_code(node))
    builder.add_bool(False)  # NHWC
    builder.finish(node)


def _add_dilation(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    if (options.dilation_w_factor, options.dilation_h_factor) != (1, 1):
        builder.add_scalars(False, options.dilation_w_factor, options.dilation_h_factor)  # NHWC first


def _groups(node: LoweredNode) -> int | None:
    source, weights = node.view.input(0), node.view.input(1)
    if not source.shape or not weights.shape or source.shape[3:4] == weights.shape[3:4]:
        return None
    channels, filter_channels = ((*tensor.shape, 1, 1, 1, 1)[3] for tensor in (source, weights))
    if not filter_channels:
        raise kernel_error("nnapi-division-by-zero", node.index, weights)
    return channels // filter_channels


def _add_inputs_with_dense_weights(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position, index in enumerate(node.inputs):
        densify = _densify_of(builder, index) if position == 1 else None
        if densify is None:
            builder.add_input(node, position)
        else:
            _unpack_sparse_weights(builder, node, densify, is_widened=index in builder.widened)


def _densify_of(builder: PartitionBuilder, weights: int) -> Node | None:
    dequantize = builder.widened.get(weights)
    if dequantize is None:
        return builder.densified.get(weights)
    builder.node = dequantize.index
    return builder.densified.get(dequantize.input(0))


_DENSE_TYPES = {"FLOAT32": (_T.TENSOR_FLOAT32, 4), "FLOAT16": (_T.TENSOR_FLOAT16, 2), "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 1)}
"""The NNAPI type and the element size in bytes of unpacked weights, by the type of the sparse weights."""


def _unpack_sparse_weights(builder: PartitionBuilder, node: LoweredNode, densify: Node, is_widened: bool) -> None:
    builder.node = densify.index
    weights, dense = builder.graph.tensor(densify.input(0)), builder.graph.tensor(densify.output(0))
    if weights.sparsity is None:
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="without sparsity parameters")
    if weights.type not in _DENSE_TYPES:
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="which it cannot unpack")
    is_float = is_widened and weights.type == "FLOAT16"
    code, size = _DENSE_TYPES["FLOAT32" if is_float else weights.type]
    builder.add_constant(code, dense.shape, size * dense.element_count, dense.scale, dense.zero_point)


def _third_tensor_is_int8(view: NodeView) -> bool:
    """Return whether tensor 2 of the graph is INT8. By mistake, the real delegate reads tensor 2 instead of operand 2."""
    return view.graph.tensors[2].type == "INT8"


def _pooling(node: LoweredNode) -> list[int]:
    options = node.options
    sizes = options.stride_w, options.stride_h, options.filter_width, options.filter_height
    return [padding_code(node), *sizes, activation_code(node)]


_INT8 = OperandTraits(converts_int8=first_is_int8)


def _add_bilinear(builder: PartitionBuilder, node: LoweredNode) -> None:
    options, shape = node.options, (*node.view.output(0).shape, 0, 0, 0)
    builder.add_input(node, 0)
    builder.add_scalars(shape[2], shape[1])
    if options.align_corners or options.half_pixel_centers:
        builder.add_scalars(False, bool(options.align_corners), bool(options.half_pixel_centers))  # NHWC first
    builder.finish(node)


def _add_nearest_neighbor(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    builder.add_input(node, 0)
    builder.add_scalars(first_integer(node.view, 1, 1), first_integer(node.view, 1))
    builder.add_bool(False)  # NHWC
    if options.align_corners or options.half_pixel_centers:
        builder.add_bool(options.align_corners)
        builder.add_bool(options.half_pixel_centers)
    builder.finish(node)


def _add_fully_connected(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower FULLY_CONNECTED.

    An omitted bias becomes zeros. NNAPI's result has two dimensions, so a RESHAPE follows if ``keep_num_dims`` is set.
    """
    for position, index in enumerate(node.inputs):
        if index >= 0:
            builder.add_input(node, position)
    if len(node.inputs) != 3 or node.operand(2) < 0:
        add_zero_bias(builder, node, 0, 1, (*node.view.input(1).shape, 0)[0])
    builder.add_int(activation_code(node))
    if not node.options.keep_num_dims:
        builder.add_outputs(node)
        builder.add_dequantized_weights(node, _WEIGHTS)
        builder.add_operation(node, "FULLY_CONNECTED")
        return
    flat = [_add_flat_result(builder, node, position) for position in range(len(node.outputs))]
    builder.add_dequantized_weights(node, _WEIGHTS)
    builder.add_operation(node, "FULLY_CONNECTED")
    if flat:
        builder.append_reshape(node, flat[-1])


def _add_flat_result(builder: PartitionBuilder, node: LoweredNode, position: int) -> int:
    result = node.view.output(position)
    units = result.shape[-1] if result.shape else 0
    if not units:
        raise kernel_error("nnapi-division-by-zero", node.index, result)
    shape = (result.element_count // units, units)
    return builder.add_intermediate(node, result, shape, result.scale, result.zero_point)


LOWERINGS: Lowerings = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": Lowering("BIDIRECTIONAL_SEQUENCE_LSTM", _add_bidirectional_lstm, _SEQUENCE_LSTM),
    "LSTM": Lowering("LSTM", _add_lstm, OperandTraits(is_hybrid=is_hybrid_lstm)),
    "RNN": Lowering("RNN", _add_rnn),
    "SVDF": Lowering("SVDF", _add_svdf),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Lowering("UNIDIRECTIONAL_SEQUENCE_LSTM", _add_sequence_lstm, _SEQUENCE_LSTM),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Lowering(
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        with_scalars(lambda node: [activation_code(node), int(node.options.time_major)]),
        OperandTraits(is_hybrid=hybrid_with_weights(1)),
    ),
    "CONV_2D": Lowering(
        "CONV_2D",
        _add_convolution,
        OperandTraits(converts_int8=weights_are_int8, converts_all_inputs=True, is_hybrid=hybrid_with_weights(1)),
    ),
    "DEPTHWISE_CONV_2D": Lowering(
        "DEPTHWISE_CONV_2D", _add_depthwise_convolution, OperandTraits(converts_int8=weights_are_int8, converts_all_inputs=True)
    ),
    "TRANSPOSE_CONV": Lowering(
        "TRANSPOSE_CONV", _add_transpose_convolution, OperandTraits(converts_int8=_third_tensor_is_int8), reads_graph=True
    ),
    "AVERAGE_POOL_2D": Lowering("AVERAGE_POOL_2D", with_scalars(_pooling), _INT8),
    "L2_POOL_2D": Lowering("L2_POOL_2D", with_scalars(_pooling)),
    "MAX_POOL_2D": Lowering("MAX_POOL_2D", with_scalars(_pooling), _INT8),
    "RESIZE_BILINEAR": Lowering("RESIZE_BILINEAR", _add_bilinear, _INT8),
    "RESIZE_NEAREST_NEIGHBOR": Lowering("RESIZE_NEAREST_NEIGHBOR", _add_nearest_neighbor, _INT8),
    "BATCH_MATMUL": Lowering("BATCH_MATMUL", with_scalars(lambda node: [bool(node.options.adj_x), bool(node.options.adj_y)])),
    "FULLY_CONNECTED": Lowering(
        "FULLY_CONNECTED",
        _add_fully_connected,
        OperandTraits(converts_int8=weights_are_int8, converts_all_inputs=True, is_hybrid=hybrid_with_weights(1)),
    ),
}
