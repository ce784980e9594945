"""Convolutions, pooling, matrix products, recurrent layers and detection."""

from __future__ import annotations

from ..operands import FALSE, ONE, OptionalInputs
from ..refusal import OperandPart, ProcessAborted
from ..types import AndroidRelease, OperandType, element_count
from .signature import OperationView, operation, product_level

_T = OperandType


def _padded_forms(implicit: int) -> tuple[str, ...]:
    """Return the allowed lists of a convolution's inputs.

    Each list has tensors, and then INT32 scalars. From level 3 on, a layout flag and dilation factors may follow. A list with a
    padding scheme has ``implicit`` scalars. A list with explicit padding has four sizes in place of the padding scheme.
    """
    bases = [f"SAME FILTER BIAS INT32*{numbers}" for numbers in (implicit, implicit + 3)]
    return tuple([base + rest for base in bases for rest in ("", " BOOL @3", " BOOL INT32 INT32 @3")])


def _layout_and_dilation(place: int) -> tuple[OptionalInputs, ...]:
    """Return two descriptions of the optional inputs for layout and dilation: for explicit padding and for a padding scheme.

    ``place`` is the position of the layout input in the form with a padding scheme.
    """
    defaults = (FALSE, ONE, ONE)
    return (
        OptionalInputs(place + 3, defaults, (place, _T.INT32), place + 5),
        OptionalInputs(place, defaults, (place, _T.BOOL), place + 2),
    )


def _filter_channel(view: OperationView, dimension: int = 0, code: str = "operation-filter-channel") -> None:
    filter_ = view.inputs[1]
    if filter_.type != _T.TENSOR_QUANT8_SYMM_PER_CHANNEL or not view.has_rule(code):
        return
    if filter_.channels is None:
        raise ProcessAborted(f"the per-channel filter of {view.name} has no scales")
    if filter_.channels.dimension != dimension:
        view.refuse(code, OperandPart("input", 1, "channel dimension"), filter_.channels.dimension, dimension)


def _depthwise_channel(view: OperationView) -> None:
    _filter_channel(view, 3, "operation-depthwise-filter-channel")


def _rank_4(view: OperationView) -> None:
    for index in (0, 1):
        rank = view.inputs[index].rank
        if rank not in {0, 4}:
            view.refuse("operation-conv-rank", OperandPart("input", index, "rank"), rank, "4")


def _depthwise_scale_level(view: OperationView) -> int:
    """Return the feature level that the output's scale needs. From Android 11 on, the runtime reads the input's scale instead."""
    is_real = view.android < AndroidRelease.ANDROID_11
    return product_level(view, (view.outputs if is_real else view.inputs)[0].scale)


_POOLING_LAYOUT = (OptionalInputs(10, (FALSE,), (7, _T.INT32)), OptionalInputs(7, (FALSE,), (7, _T.BOOL)))


def _fully_connected_shape(view: OperationView) -> None:
    given, weights, bias = (operand.dimensions for operand in view.inputs[:3])
    if not given or not weights or not bias:
        return
    code, ranks = "operation-fully-connected-shape", (len(given), len(weights), len(bias))
    if not (2 <= ranks[0] <= 4 and ranks[1:] == (2, 1)):
        view.refuse(code, "ranks of input, weights and bias", ", ".join(map(str, ranks)), "2 to 4, 2, 1")
        return
    units, columns = weights
    elements = element_count(given)
    if columns and elements % columns:
        needed = f"a multiple of {columns}, the number of columns of the weights"
        view.refuse(code, OperandPart("input", 0, "elements"), elements, needed)
    if units and bias[0] and units != bias[0]:
        view.refuse(code, OperandPart("input", 2, "elements"), bias[0], f"{units}, the number of rows of the weights")


_POOLING = ("SAME INT32*6", "SAME INT32*6 BOOL @3", "SAME INT32*9", "SAME INT32*9 BOOL @3")
_LSTM = "SAME*20 INT32 SCALAR SCALAR"
_FOUND = "GenerateProposals.cpp: "

RULES = (
    operation(
        "CONV_2D",
        "Conv2D.cpp: conv_2d::validate",
        "REAL@1",
        *_padded_forms(4),
        # By mistake, the runtime reads the scale of the input instead of the scale of the output.
        checks=(_rank_4, _filter_channel, lambda view: product_level(view, view.inputs[0].scale)),
        optional=_layout_and_dilation(7),
    ),
    operation(
        "DEPTHWISE_CONV_2D",
        "DepthwiseConv2D.cpp: depthwise_conv_2d::validate",
        "REAL@1",
        *_padded_forms(5),
        checks=(_depthwise_channel, _depthwise_scale_level),
        optional=_layout_and_dilation(8),
    ),
    operation(
        "GROUPED_CONV_2D",
        "GroupedConv2D.cpp: grouped_conv2d::validate",
        "REAL@3",
        "SAME FILTER BIAS INT32*5 BOOL",
        "SAME FILTER BIAS INT32*8 BOOL",
        checks=(_filter_channel,),
    ),
    operation(
        "TRANSPOSE_CONV_2D",
        "TransposeConv2D.cpp: transpose_conv_2d::validate",
        "REAL@3",
        "SAME FILTER BIAS TENSOR_INT32 INT32*4 BOOL",
        "SAME FILTER BIAS INT32*7 BOOL",
        checks=(_filter_channel,),
    ),
    operation("AVERAGE_POOL_2D MAX_POOL_2D", "Pooling.cpp: pooling::validate", "REAL@1", *_POOLING, optional=_POOLING_LAYOUT),
    operation("L2_POOL_2D", "Pooling.cpp: pooling::validate", "FLOAT@1", *_POOLING, optional=_POOLING_LAYOUT),
    operation(
        "FULLY_CONNECTED",
        "FullyConnected.cpp: fully_connected::validate",
        "REAL@1",
        "SAME SAME BIAS INT32",
        checks=(_fully_connected_shape, lambda view: product_level(view, view.outputs[0].scale)),
    ),
    operation(
        "BATCH_MATMUL",
        "BatchMatmul.cpp: batch_matmul_op::validate",
        "FLOAT16@6 FLOAT32@6 QUANT8_ASYMM_SIGNED@6 INT32@6",
        "SAME SAME BOOL BOOL",
    ),
    operation("RNN", "RNN.cpp: rnn::validate", "FLOAT@1", "SAME*5 INT32", outputs=("SAME SAME",)),
    operation("SVDF", "SVDF.cpp: svdf::validate", "FLOAT@1", "SAME*5 INT32 INT32", outputs=("SAME SAME",)),
    # The last four tensors are for layer normalization.
    operation("LSTM", "LSTM.cpp: lstm::validate", "FLOAT@1", _LSTM, f"{_LSTM} SAME*4 @3", outputs=("SAME*4",)),
    operation(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "UnidirectionalSequenceLSTM.cpp: unidirectional_sequence_lstm::validate",
        "FLOAT@3",
        f"{_LSTM} BOOL SAME*4",
        outputs=("SAME", "SAME*3 @4"),
    ),
    operation(
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        "BidirectionalSequenceLSTM.cpp: bidirectional_sequence_lstm::validate",
        "FLOAT@3",
        "SAME*48 INT32 SCALAR SCALAR BOOL BOOL SAME*8",
        outputs=("SAME", "SAME*2", "SAME*5 @4", "SAME*6 @4"),
    ),
    operation(
        "UNIDIRECTIONAL_SEQUENCE_RNN",
        "UnidirectionalSequenceRNN.cpp: unidirectional_sequence_rnn::validate",
        "FLOAT@3",
        "SAME*5 INT32 INT32",
        outputs=("SAME", "SAME*2 @4"),
    ),
    operation(
        "BIDIRECTIONAL_SEQUENCE_RNN",
        "BidirectionalSequenceRNN.cpp: bidirectional_sequence_rnn::validate",
        "FLOAT@3",
        "SAME*12 INT32 BOOL BOOL",
        outputs=("SAME", "SAME*2", "SAME*3 @4", "SAME*4 @4"),
    ),
    # Input, weights, biases, cell state, output state.
    operation(
        "QUANTIZED_16BIT_LSTM",
        "QuantizedLSTM.cpp: quantized_16bit_lstm::validate",
        "QUANT8_ASYMM@3",
        "SAME*9 TENSOR_INT32*4 TENSOR_QUANT16_SYMM SAME",
        outputs=("TENSOR_QUANT16_SYMM SAME",),
    ),
    # Input, input and recurrent weights, cell weights, biases of the gates, projection and its bias, output state, cell state and
    # layer normalization, clips and scales of intermediate results, quantization of the hidden state.
    operation(
        "QUANTIZED_LSTM",
        "QLSTM.cpp: qlstm::validate",
        "QUANT8_ASYMM_SIGNED@4",
        "SAME TENSOR_QUANT8_SYMM*8 TENSOR_QUANT16_SYMM*3 TENSOR_INT32*4 TENSOR_QUANT8_SYMM TENSOR_INT32 SAME "
        "TENSOR_QUANT16_SYMM*5 FLOAT32*6 INT32 FLOAT32",
        outputs=("SAME TENSOR_QUANT16_SYMM SAME",),
    ),
    operation(
        "AXIS_ALIGNED_BBOX_TRANSFORM",
        f"{_FOUND}axis_aligned_bbox_transform::validate",
        "FLOAT@3 QUANT16_ASYMM@3",
        "SAME DELTAS TENSOR_INT32 SAME",
    ),
    operation(
        "BOX_WITH_NMS_LIMIT",
        f"{_FOUND}box_with_nms_limit::validate",
        "REAL@3",
        "SAME BOXES TENSOR_INT32 SCALAR INT32 INT32 SCALAR*3",
        outputs=("SAME BOXES TENSOR_INT32 TENSOR_INT32",),
    ),
    operation(
        "GENERATE_PROPOSALS",
        f"{_FOUND}generate_proposals::validate",
        "REAL@3",
        "SAME SAME ANCHORS BOXES SCALAR SCALAR INT32 INT32 SCALAR SCALAR BOOL",
        outputs=("SAME BOXES TENSOR_INT32",),
    ),
    operation(
        "DETECTION_POSTPROCESSING",
        f"{_FOUND}detection_postprocess::validate",
        "FLOAT@3",
        "SAME*3 SCALAR*4 BOOL INT32*3 SCALAR SCALAR BOOL",
        outputs=("SAME SAME TENSOR_INT32 TENSOR_INT32",),
    ),
    operation(
        "HEATMAP_MAX_KEYPOINT",
        "HeatmapMaxKeypoint.cpp: heatmap_max_keypoint::validate",
        "REAL@3",
        "SAME BOXES BOOL",
        outputs=("SAME BOXES",),
    ),
    operation(
        "ROI_ALIGN",
        "RoiAlign.cpp: roi_align::validate",
        "REAL@3",
        "SAME BOXES TENSOR_INT32 INT32 INT32 SCALAR SCALAR INT32 INT32 BOOL",
    ),
    operation(
        "ROI_POOLING", "RoiPooling.cpp: roi_pooling::validate", "REAL@3", "SAME BOXES TENSOR_INT32 INT32 INT32 SCALAR SCALAR BOOL"
    ),
)
