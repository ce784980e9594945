"""How each operator's operands are added to the NNAPI model of its partition (``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from ...graph.graph import NodeView
from ...model.model import Node
from .builder import KernelError, PartitionBuilder, Step, kernel_error
from .questions import QUANTIZED_TYPES, is_basic_lstm, is_full_lstm
from .target import NNAPI_1_3


def add_all_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """Add every operand in order."""
    for index in view.node.inputs:
        partition.add_tensor(view.node, index)


def _add_first_input(partition: PartitionBuilder, view: NodeView) -> None:
    """The other operands become numbers of the operation."""
    partition.add_tensor(view.node, view.node.inputs[0])


def add_given_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """What is left out becomes an empty or zero operand."""
    _add_given(partition, view.node, view.node.inputs)


def _add_given(partition: PartitionBuilder, node: Node, indices: Iterable[int]) -> None:
    for index in indices:
        if index >= 0:
            partition.add_tensor(node, index)


def _add_convolution_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """Sparse weights are unpacked instead of being mapped."""
    node = view.node
    for position, index in enumerate(node.inputs):
        densify = _densify_of(partition, index) if position == 1 else None
        if densify is None:
            partition.add_tensor(node, index)
        else:
            _unpack_sparse_weights(partition, node, densify)


def _densify_of(partition: PartitionBuilder, weights: int) -> Node | None:
    """The node that unpacks these weights, with or without a DEQUANTIZE in between."""
    dequantize = partition.widened.get(weights)
    return partition.densified.get(weights if dequantize is None else dequantize.inputs[0])


def _unpack_sparse_weights(partition: PartitionBuilder, node: Node, densify: Node) -> None:
    """``DensifyAndDequantizeConstTensor``."""
    weights = partition.graph.tensors[densify.inputs[0]]
    if weights.sparsity is None:
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="without sparsity parameters")
    if weights.type not in ("FLOAT32", "FLOAT16", "INT8"):
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="which it cannot unpack")


def _add_transpose_convolution_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    node = view.node
    has_bias = len(node.inputs) == 4 and node.inputs[3] >= 0
    for position in (2, 1, 3, 0) if has_bias else (2, 1, 0):
        partition.add_tensor_unchecked(node, node.inputs[position])


def _add_lstm_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    node = view.node
    if is_basic_lstm(view):
        for index in (node.inputs[0], node.inputs[4], node.inputs[1], node.outputs[1], node.outputs[0]):
            partition.add_tensor_unchecked(node, index)
        return
    _add_given(partition, node, node.inputs[:20] if is_full_lstm(view) else node.inputs)
    partition.state_tensors += node.inputs[18:20]
    _add_layer_normalization(partition, node)


def _add_sequence_lstm_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    node = view.node
    _add_given(partition, node, node.inputs[:20])
    _add_layer_normalization(partition, node)


def _add_layer_normalization(partition: PartitionBuilder, node: Node) -> None:
    """The last four operands of the long form."""
    if len(node.inputs) != 24:
        return
    for index in node.inputs[20:]:
        if index >= 0:
            partition.add_tensor_unchecked(node, index)


def _add_rnn_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    add_all_inputs(partition, view)
    partition.state_tensors.append(view.node.inputs[4])


def _add_svdf_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    add_given_inputs(partition, view)
    partition.state_tensors.append(view.node.inputs[4])


def _add_split_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """The axis becomes a number, wherever its tensor stands."""
    node = view.node
    for index in node.inputs:
        if index != node.inputs[0]:
            partition.add_tensor(node, index)


def _add_pad_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """The padding value becomes a number; the original does not look whether that worked, only at the type."""
    node = view.node
    if len(node.inputs) != 3:
        add_all_inputs(partition, view)
        return
    for index in node.inputs[:2]:
        partition.add_tensor(node, index)
    if node.inputs[2] < 0:
        return
    value = view.input(2)
    if value.type not in ("FLOAT16", "FLOAT32", "UINT8", "INT8"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    with suppress(KernelError):
        partition.add_scalar(node, value)


def _add_gather_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    partition.add_tensor(view.node, view.node.inputs[0])
    partition.add_tensor_unchecked(view.node, view.node.inputs[1])


def _add_expand_dims_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    for position, index in enumerate(view.node.inputs):
        if position != 1:
            partition.add_tensor(view.node, index)


def _add_batch_to_space_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    for position, index in enumerate(view.node.inputs):
        if position != 2:
            partition.add_tensor(view.node, index)


def _add_arg_extremum_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    partition.add_tensor(view.node, view.node.inputs[0])
    axis = view.input(1)
    if axis.type == "INT32":
        partition.add_scalar(view.node, axis)
    elif axis.type != "INT64":
        raise kernel_error("nnapi-scalar-type", view.node.index, axis)


def _add_extremum_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """Scalars become tensors with one element, except where INT8 is converted to UINT8 on the way."""
    node = view.node
    converts_int8 = partition.target_feature_level < NNAPI_1_3 and view.input(0).type == "INT8"
    for operand, index in zip(view.inputs, node.inputs, strict=True):
        if operand.rank or converts_int8:
            partition.add_tensor(node, index)
        elif not operand.is_constant:
            raise kernel_error("nnapi-scalar-operand", node.index, operand, found="not constant")
        elif operand.type not in ("FLOAT32", "UINT8", "INT8", "INT32"):
            raise kernel_error("nnapi-scalar-operand", node.index, operand, found=f"of type {operand.type}")


def _add_reduction_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """Axes given as a scalar become a vector."""
    for position, index in enumerate(view.node.inputs):
        if position != 1 or view.input(1).rank:
            partition.add_tensor(view.node, index)


def _add_fill_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    node = view.node
    dimensions, value = view.input(0), view.input(1)
    if dimensions.type == "INT32":
        partition.add_tensor(node, dimensions.index)
    elif dimensions.type != "INT64":
        raise kernel_error("nnapi-scalar-type", node.index, dimensions)
    if value.type not in ("FLOAT32", "INT32", "INT64"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    partition.add_scalar(node, value)


def _add_quantize_inputs(partition: PartitionBuilder, view: NodeView) -> None:
    """NNAPI quantises floats only, so a quantised input becomes float first."""
    add_all_inputs(partition, view)
    if view.input(0).type in QUANTIZED_TYPES:
        partition.add_dequantize(view.node, view.node.inputs[0], "FLOAT32")


INPUTS: Mapping[str, Step] = {
    "ARG_MAX": _add_arg_extremum_inputs,
    "ARG_MIN": _add_arg_extremum_inputs,
    "BATCH_TO_SPACE_ND": _add_batch_to_space_inputs,
    "BIDIRECTIONAL_SEQUENCE_LSTM": add_given_inputs,
    "CONV_2D": _add_convolution_inputs,
    "EXPAND_DIMS": _add_expand_dims_inputs,
    "FILL": _add_fill_inputs,
    "FULLY_CONNECTED": add_given_inputs,
    "GATHER": _add_gather_inputs,
    "LSTM": _add_lstm_inputs,
    "MAXIMUM": _add_extremum_inputs,
    "MEAN": _add_reduction_inputs,
    "MINIMUM": _add_extremum_inputs,
    "PAD": _add_pad_inputs,
    "PADV2": _add_pad_inputs,
    "QUANTIZE": _add_quantize_inputs,
    "REDUCE_ANY": _add_reduction_inputs,
    "REDUCE_MAX": _add_reduction_inputs,
    "REDUCE_MIN": _add_reduction_inputs,
    "REDUCE_PROD": _add_reduction_inputs,
    "RESIZE_BILINEAR": _add_first_input,
    "RESIZE_NEAREST_NEIGHBOR": _add_first_input,
    "RNN": _add_rnn_inputs,
    "SPLIT": _add_split_inputs,
    "SUM": _add_reduction_inputs,
    "SVDF": _add_svdf_inputs,
    "TOPK_V2": _add_first_input,
    "TRANSPOSE_CONV": _add_transpose_convolution_inputs,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _add_sequence_lstm_inputs,
}
"""How operands are added, where it is not simply all of them in order."""
