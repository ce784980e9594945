"""The numbers and further operands that each operator gives its NNAPI operation.

Source: ``NNAPIDelegateKernel::Map`` (``delegates/nnapi/nnapi_delegate.cc``), in the order of its calls.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....model import schema
from ....nnapi_runtime.types import OperandType
from ..node_predicates import is_basic_lstm
from ..target import NNAPI_1_3
from .builder import PartitionBuilder, kernel_error
from .node import MappedNode, NodeStep
from .operand_types import CONVERT_INT8, PER_CHANNEL, REPEATED_SCALE, SIGNED
from .operands import add_dequantized, first_integer

_T = OperandType
_SPARSE_PROJECTION = 1
_NNAPI_SPARSE_PROJECTION = 3


def _activation(mapped: MappedNode) -> int:
    """``ConvertActivation`` (``flatbuffer_conversions.cc``): what is unknown counts as none."""
    value = mapped.view.options.fused_activation_function
    return int(value) if value in schema.enum_names("ActivationFunctionType") else 0


def _padding(mapped: MappedNode) -> int:
    """Same or valid, as NNAPI and the runtime number them."""
    return int(mapped.view.options.padding) + 1


def _add_activation(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_int(_activation(mapped))


def _add_pooling(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    for value in (_padding(mapped), options.stride_w, options.stride_h, options.filter_width, options.filter_height):
        partition.add_int(value)
    partition.add_int(_activation(mapped))


def _add_dilation(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    if (options.dilation_w_factor, options.dilation_h_factor) != (1, 1):
        partition.add_bool(False)
        partition.add_int(options.dilation_w_factor)
        partition.add_int(options.dilation_h_factor)


def is_grouped(mapped: MappedNode) -> bool:
    """Whether the filter of a convolution has fewer channels than its input."""
    source, weights = mapped.view.input(0).shape, mapped.view.input(1).shape
    return bool(source) and bool(weights) and source[3:4] != weights[3:4]


def _add_convolution(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    for value in (_padding(mapped), options.stride_w, options.stride_h):
        partition.add_int(value)
    if is_grouped(mapped):
        channels = [(*mapped.view.input(position).shape, 1, 1, 1, 1)[3] for position in (0, 1)]
        if not channels[1]:
            raise kernel_error("nnapi-division-by-zero", mapped.node.index, mapped.view.input(1))
        partition.add_int(channels[0] // channels[1])
    partition.add_int(_activation(mapped))
    _add_dilation(partition, mapped)


def _add_depthwise_convolution(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    for value in (_padding(mapped), options.stride_w, options.stride_h, options.depth_multiplier, _activation(mapped)):
        partition.add_int(value)
    _add_dilation(partition, mapped)


def _add_zero_bias(partition: PartitionBuilder, mapped: MappedNode, source: int, weights: int, count: int) -> None:
    """A bias of zeros: of floats beside float input, otherwise of the scale of a product."""
    first, second = mapped.view.input(source), mapped.view.input(weights)
    if first.type == "FLOAT32":
        partition.add_vector(count, _T.TENSOR_FLOAT32)
    else:
        partition.add_vector(count, scale=first.scale * second.scale)


def _add_fully_connected(partition: PartitionBuilder, mapped: MappedNode) -> None:
    inputs = mapped.node.inputs
    if len(inputs) != 3 or inputs[2] < 0:
        _add_zero_bias(partition, mapped, 0, 1, (*mapped.view.input(1).shape, 0)[0])
    partition.add_int(_activation(mapped))


def _add_softmax(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_float(mapped.view.options.beta)


def _add_reshape(partition: PartitionBuilder, mapped: MappedNode) -> None:
    if len(mapped.node.inputs) == 1:
        shape = mapped.view.options.new_shape or ()
        partition.add_vector(len(shape), is_null=not len(shape))


def _add_bilinear(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options, shape = mapped.view.options, (*mapped.view.output(0).shape, 0, 0, 0)
    partition.add_int(shape[2])
    partition.add_int(shape[1])
    if options.align_corners or options.half_pixel_centers:
        partition.add_bool(False)
        partition.add_bool(options.align_corners)
        partition.add_bool(options.half_pixel_centers)


def _add_nearest(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    partition.add_int(first_integer(mapped.view, 1, 1))
    partition.add_int(first_integer(mapped.view, 1))
    partition.add_bool(False)
    if options.align_corners or options.half_pixel_centers:
        partition.add_bool(options.align_corners)
        partition.add_bool(options.half_pixel_centers)


def _add_squeeze(partition: PartitionBuilder, mapped: MappedNode) -> None:
    dimensions = mapped.view.options.squeeze_dims or ()
    partition.add_vector(len(dimensions), is_null=not len(dimensions))


def _add_layer_normalization(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """The last four operands of the long form."""
    for index in mapped.node.inputs[20:24]:
        if index >= 0:
            partition.add_input_unchecked(mapped.node, index, is_hybrid=mapped.is_hybrid)
        else:
            partition.leave_out()


def _add_clipping(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    partition.add_int(_activation(mapped))
    partition.add_float(options.cell_clip)
    partition.add_float(options.proj_clip)


def _add_sequence_lstm(partition: PartitionBuilder, mapped: MappedNode) -> None:
    _add_clipping(partition, mapped)
    partition.add_bool(mapped.view.options.time_major)
    if len(mapped.node.inputs) == 24:
        _add_layer_normalization(partition, mapped)
    else:
        for _ in range(4):
            partition.leave_out()


def _add_bidirectional_lstm(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """The runtime has no layer normalisation here, so its operands are left out."""
    _add_clipping(partition, mapped)
    partition.add_bool(mapped.view.options.merge_outputs)
    partition.add_bool(mapped.view.options.time_major)
    for _ in range(8):
        partition.leave_out()


def _add_lstm(partition: PartitionBuilder, mapped: MappedNode) -> None:
    if is_basic_lstm(mapped.view):
        _add_basic_lstm(partition, mapped)
        return
    _add_clipping(partition, mapped)
    # NNAPI wants a scratch buffer among the results, and gives both states back.
    partition.add_result(_T.TENSOR_FLOAT32, (0, 0))
    for index in mapped.node.inputs[18:20]:
        partition.add_state(index)
    if len(mapped.node.inputs) == 24:
        _add_layer_normalization(partition, mapped)


def _add_basic_lstm(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """Weights and biases are taken apart, gate by gate."""
    node, view = mapped.node, mapped.view
    partition.add_input_unchecked(node, node.input(0))
    weights, biases = view.input(2), view.input(3)
    rows, columns = (*weights.shape, 0, 0)[:2]
    depth = rows // 4
    for width in (*[columns - depth] * 4, *[depth] * 4):
        shape = (depth, max(width, 0))
        partition.add_constant(_T.TENSOR_QUANT8_ASYMM, shape, shape[0] * shape[1], weights.scale, weights.zero_point)
    count = (*view.output(1).shape, 0, 0)[1]
    for _ in range(4):
        partition.add_constant(_T.TENSOR_INT32, (count,), 4 * count, biases.scale, biases.zero_point)
    for position in (4, 1):
        partition.add_input_unchecked(node, node.input(position))
    for position in (1, 0):
        partition.add_output_unchecked(node, node.output(position))


def _add_response_normalization(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    partition.add_int(options.radius)
    for value in (options.bias, options.alpha, options.beta):
        partition.add_float(value)


def _add_projection(partition: PartitionBuilder, mapped: MappedNode) -> None:
    kind = mapped.view.options.type
    if kind == _SPARSE_PROJECTION:
        kind = _NNAPI_SPARSE_PROJECTION
        partition.leave_out()
    partition.add_int(kind)


def _add_axis_of_concatenation(partition: PartitionBuilder, mapped: MappedNode) -> None:
    axis = mapped.view.options.axis
    partition.add_int(axis + mapped.view.input(0).rank if axis < 0 else axis)


def _add_sequence_rnn(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_int(_activation(mapped))
    partition.add_int(mapped.view.options.time_major)


def _add_strided_slice(partition: PartitionBuilder, mapped: MappedNode) -> None:
    options = mapped.view.options
    for mask in (options.begin_mask, options.end_mask, options.shrink_axis_mask):
        partition.add_int(mask)


def _add_transpose_convolution(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """Weights count as quantised per channel whatever the number of scales."""
    node, view = mapped.node, mapped.view
    flag = SIGNED if partition.target_feature_level >= NNAPI_1_3 else CONVERT_INT8
    partition.add_input_unchecked(node, node.input(2), flag)
    is_hybrid = view.input(2).type == "FLOAT32"
    partition.add_input_unchecked(node, node.input(1), PER_CHANNEL | (REPEATED_SCALE if is_hybrid else 0))
    if len(node.inputs) == 4 and node.input(3) >= 0:
        partition.add_input_unchecked(node, node.input(3))
    else:
        _add_zero_bias(partition, mapped, 2, 1, first_integer(view, 0, 3))
    partition.add_input_unchecked(node, node.input(0))
    for value in (_padding(mapped), view.options.stride_w, view.options.stride_h, _activation(mapped)):
        partition.add_int(value)
    partition.add_bool(False)


def _add_rnn(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_state(mapped.node.input(4))
    partition.add_int(_activation(mapped))


def _add_svdf(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_state(mapped.node.input(4))
    partition.add_int(mapped.view.options.rank)
    partition.add_int(_activation(mapped))


def _add_block_size(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_int(mapped.view.options.block_size)


def _add_kept_dimensions(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_bool(mapped.view.options.keep_dims)


def _add_kept_dimensions_of_mean(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_int(bool(mapped.view.options.keep_dims))


def _add_slope(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """The slope of LEAKY_RELU becomes a vector of one element, quantised so that it is the scale."""
    alpha, kind = mapped.view.options.alpha, mapped.view.input(0).type
    if kind == "FLOAT32":
        partition.add_constant(_T.TENSOR_FLOAT32, (1,), 4)
        return
    is_signed = kind == "INT8" and partition.target_feature_level >= NNAPI_1_3
    code = _T.TENSOR_QUANT8_ASYMM_SIGNED if is_signed else _T.TENSOR_QUANT8_ASYMM
    partition.add_constant(code, (1,), 1, alpha)


def _add_count(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_int(first_integer(mapped.view, 1))


def _add_gather(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_int(mapped.view.options.axis)
    partition.add_input_unchecked(mapped.node, mapped.node.input(1))


def _add_split(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_int(first_integer(mapped.view, 0))
    partition.add_int(mapped.view.options.num_splits)


def _add_log_softmax(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_float(1.0)
    partition.add_int(-1)


def _add_elu(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_float(1.0)


def _add_adjoints(partition: PartitionBuilder, mapped: MappedNode) -> None:
    partition.add_bool(mapped.view.options.adj_x)
    partition.add_bool(mapped.view.options.adj_y)


def _add_mirror(partition: PartitionBuilder, mapped: MappedNode) -> None:
    mode = mapped.view.options.mode
    partition.add_int(mode if mode in (0, 1) else -1)


PARAMETERS: Mapping[str, NodeStep] = {
    **dict.fromkeys(("ADD", "MUL", "SUB", "DIV"), _add_activation),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), _add_pooling),
    **dict.fromkeys(("REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"), _add_kept_dimensions),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), _add_block_size),
    **dict.fromkeys(("EXPAND_DIMS", "TOPK_V2"), _add_count),
    "BATCH_MATMUL": _add_adjoints,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _add_bidirectional_lstm,
    "CONCATENATION": _add_axis_of_concatenation,
    "CONV_2D": _add_convolution,
    "DEPTHWISE_CONV_2D": _add_depthwise_convolution,
    "ELU": _add_elu,
    "FULLY_CONNECTED": _add_fully_connected,
    "GATHER": _add_gather,
    "LEAKY_RELU": _add_slope,
    "LOCAL_RESPONSE_NORMALIZATION": _add_response_normalization,
    "LOG_SOFTMAX": _add_log_softmax,
    "LSH_PROJECTION": _add_projection,
    "LSTM": _add_lstm,
    "MEAN": _add_kept_dimensions_of_mean,
    "MIRROR_PAD": _add_mirror,
    "QUANTIZE": add_dequantized,
    "RESHAPE": _add_reshape,
    "RESIZE_BILINEAR": _add_bilinear,
    "RESIZE_NEAREST_NEIGHBOR": _add_nearest,
    "RNN": _add_rnn,
    "SOFTMAX": _add_softmax,
    "SPLIT": _add_split,
    "SQUEEZE": _add_squeeze,
    "STRIDED_SLICE": _add_strided_slice,
    "SVDF": _add_svdf,
    "TRANSPOSE_CONV": _add_transpose_convolution,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _add_sequence_lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _add_sequence_rnn,
}
"""What is added after an operator's operands; nothing for the others."""
