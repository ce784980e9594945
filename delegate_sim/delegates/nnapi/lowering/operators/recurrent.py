"""Recurrent layers."""

from __future__ import annotations

from collections.abc import Iterable

from .....graph.graph import NodeView
from .....nnapi_runtime.types import OperandType
from ...target import NNAPI_1_3, hybrid_with_weights, is_basic_lstm, is_full_lstm, is_hybrid_lstm
from ..builder import PartitionBuilder, kernel_error
from ..node import SIGNED, LoweredNode, OperandTraits
from ..operator_lowering import Lowering, Lowerings, activation_code

_T = OperandType
_SHARED_INPUTS = 20
"""Number of operands of an LSTM without layer normalization."""
_LSTM_WEIGHTS = (*range(1, 18), *range(20, 24))
"""Positions of the operands that are dequantized if the input is float."""


def _add_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    if is_basic_lstm(node.view):
        _add_basic_lstm(builder, node)
    elif _is_quantized_lstm(builder, node.view):
        _add_quantized_lstm(builder, node)
    else:
        _add_full_lstm(builder, node)


def _is_quantized_lstm(builder: PartitionBuilder, view: NodeView) -> bool:
    return builder.target_feature_level >= NNAPI_1_3 and is_full_lstm(view) and view.input(0).type == "INT8"


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
        _leave_out_layer_normalization(builder, 4)
    builder.finish(node)


def _add_bidirectional_lstm(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower a bidirectional LSTM.

    The operands for layer normalization are empty, because this TFLite operator has no layer normalization.
    """
    _add_given(builder, node, range(len(node.inputs)))
    _add_clipping(builder, node)
    builder.add_bool(node.options.merge_outputs)
    builder.add_bool(node.options.time_major)
    _leave_out_layer_normalization(builder, 8)
    builder.finish(node)


def _add_rnn(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_state(node, 4)
    builder.add_int(activation_code(node))
    builder.finish(node)


def _add_sequence_rnn(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_int(activation_code(node))
    builder.add_int(node.options.time_major)
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


def _leave_out_layer_normalization(builder: PartitionBuilder, count: int) -> None:
    for _ in range(count):  # bounded: callers pass constants
        builder.leave_out()


_SEQUENCE_LSTM = OperandTraits(is_hybrid=hybrid_with_weights(2))

LOWERINGS: Lowerings = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": Lowering("BIDIRECTIONAL_SEQUENCE_LSTM", _add_bidirectional_lstm, _SEQUENCE_LSTM),
    "LSTM": Lowering("LSTM", _add_lstm, OperandTraits(is_hybrid=is_hybrid_lstm)),
    "RNN": Lowering("RNN", _add_rnn),
    "SVDF": Lowering("SVDF", _add_svdf),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Lowering("UNIDIRECTIONAL_SEQUENCE_LSTM", _add_sequence_lstm, _SEQUENCE_LSTM),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Lowering(
        "UNIDIRECTIONAL_SEQUENCE_RNN", _add_sequence_rnn, OperandTraits(is_hybrid=hybrid_with_weights(1))
    ),
}
