"""Recurrent layers."""

from __future__ import annotations

from collections.abc import Iterable

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....nnapi_runtime.types import OperandType
from ....rules.kinds import in_code
from ....rules.operands import OUTPUT, Operand, exactly, operand, result
from ....rules.rule import Check, Rules
from ....rules.vocabulary import check_for_target, constant, operand_count, typed, where
from ..lowering.builder import PartitionBuilder, kernel_error
from ..lowering.operands import SIGNED
from ..lowering.operator import LoweredNode, activation_code, operator, with_scalars
from ..target import (
    FEATURE_LEVEL,
    FLOAT,
    FLOAT_QUANT8,
    FLOAT_UINT8,
    NNAPI_1_3,
    SOURCE,
    UNSUPPORTED_OPERAND_RANK,
    NnapiTarget,
    below_level,
    from_level,
    hybrid_with_weights,
    is_basic_lstm,
    is_full_lstm,
    is_hybrid_lstm,
    level_demand,
    max_op_version,
    min_level,
    not_hybrid,
    op_version,
    quantized_as,
)

_T = OperandType


def _is_unit_range(tensor: Tensor) -> bool:
    return tensor.scale == 1 / 128 and tensor.zero_point == 128


def _unit_range(which: Operand) -> Check[object]:
    hint = f"quantize the {which.name} to the range from -1 to 127/128"
    return quantized_as(which, "a scale of 1/128 and a zero point of 128", _is_unit_range, hint)


_BASIC_KERNEL = where(
    is_basic_lstm,
    "basic kernel",
    typed(operand(2, "weight tensor"), ("UINT8",)),
    _unit_range(operand(0, "input")),
    _unit_range(OUTPUT),
    quantized_as(
        result(1, "cell state"),
        "a scale of 16/32768 or a zero point of 0",
        lambda tensor: tensor.scale == 16 / 32768 or tensor.zero_point == 0,
        "quantize the cell state symmetrically",
    ),
    constant(operand(2, "weight tensor"), hint="store the weights in the model file"),
    constant(operand(3, "bias"), hint="store the biases in the model file"),
)

_FULL_KERNEL = where(
    lambda node: not is_basic_lstm(node),
    "full kernel",
    typed(operand(4, "weight tensor"), FLOAT_QUANT8).when(from_level("1.3")),
    typed(operand(4, "weight tensor"), FLOAT_UINT8).when(below_level("1.3")),
)

_FLOAT_WEIGHTS = typed(operand(1, "weight tensor"), FLOAT, hint=in_code("keep the weights in float"))

(_FLOAT_WEIGHTS_IF_ANY,) = where(lambda node: len(node.inputs) >= 2, "if there is one", _FLOAT_WEIGHTS)


def _normalized_layer(node: NodeView, target: NnapiTarget) -> str | None:
    return f"24 inputs at feature level {target.level}" if len(node.inputs) == 24 else None


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


_SEQUENCE_LSTM = min_level("1.2"), not_hybrid(hybrid_with_weights(2))

RULES: Rules[NnapiTarget] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": operator(
        op_version(1), *_SEQUENCE_LSTM, add=_add_bidirectional_lstm, is_hybrid=hybrid_with_weights(2)
    ),
    "LSTM": operator(
        max_op_version(3),
        level_demand("1.1"),
        not_hybrid(is_hybrid_lstm).when(below_level("1.2")),
        *_BASIC_KERNEL,
        check_for_target(
            FEATURE_LEVEL,
            "feature level 29 for layer normalization",
            _normalized_layer,
            "use feature level 29, or do not use layer normalization",
        )
        .from_source(SOURCE.with_symbol("ExpectMinAndroidSdkVersion"))
        .when(below_level("1.2")),
        *_FULL_KERNEL,
        add=_add_lstm,
        is_hybrid=is_hybrid_lstm,
    ),
    "RNN": operator(op_version(1), operand_count(5), _FLOAT_WEIGHTS_IF_ANY, add=_add_rnn),
    "SVDF": operator(
        op_version(1),
        operand_count(5).reported_as(UNSUPPORTED_OPERAND_RANK),
        _FLOAT_WEIGHTS_IF_ANY,
        level_demand("1.1").reported_as(UNSUPPORTED_OPERAND_RANK),
        # The delegate checks the weights twice.
        _FLOAT_WEIGHTS,
        add=_add_svdf,
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": operator(
        max_op_version(2),
        *_SEQUENCE_LSTM,
        operand_count(exactly(20, 24)),
        add=_add_sequence_lstm,
        is_hybrid=hybrid_with_weights(2),
    ),
    "UNIDIRECTIONAL_SEQUENCE_RNN": operator(
        op_version(1),
        min_level("1.2"),
        not_hybrid(hybrid_with_weights(1)),
        add=with_scalars(lambda node: [activation_code(node), int(node.options.time_major)]),
        is_hybrid=hybrid_with_weights(1),
    ),
}
