"""Convolutions, pooling, matrix products, recurrent layers and detection."""

from __future__ import annotations

from collections.abc import Collection

from ..operands import FALSE, ONE, OptionalInputs
from ..refusal import OperandPart, ProcessAborted
from ..types import AndroidRelease, OperandType, OperationType, element_count
from .signature import (
    BIAS,
    BOOL,
    BOXES,
    FILTER,
    FLOAT32,
    FLOAT_1,
    FLOAT_3,
    INT32,
    QUANT8,
    REAL_1,
    REAL_3,
    SAME,
    SCALAR,
    TENSOR_INT32,
    Form,
    OperationRule,
    OperationView,
    by_type,
    form,
    integers,
    levels,
    one_of,
    operation,
    product_level,
)

_T = OperandType
_O = OperationType


_TENSORS = (SAME, FILTER, BIAS)


def _padded_forms(implicit: int) -> tuple[Form, ...]:
    """Return the allowed lists of a convolution's inputs.

    Each list has tensors, and then INT32 scalars. From level 3 on, a layout flag and dilation factors may follow. A list with a
    padding scheme has ``implicit`` scalars. A list with explicit padding has four sizes in place of the padding scheme.
    """
    forms: list[Form] = []
    for numbers in (implicit, implicit + 3):
        base = (*_TENSORS, *integers(numbers))
        forms += [form(*base), form(*base, BOOL, level=3), form(*base, BOOL, INT32, INT32, level=3)]
    return tuple(forms)


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


def _deltas(decider: int) -> Collection[int]:
    return QUANT8 if decider == _T.TENSOR_QUANT16_ASYMM else (decider,)


def _pooling(table: dict[int, int]) -> OperationRule:
    forms: list[Form] = []
    for numbers in (6, 9):
        forms += [form(SAME, *integers(numbers)), form(SAME, *integers(numbers), BOOL, level=3)]
    return operation("Pooling.cpp: pooling::validate", table, *tuple(forms), optional=_POOLING_LAYOUT)


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


_QUANT8_SYMM = one_of(_T.TENSOR_QUANT8_SYMM)
_QUANT16_SYMM = one_of(_T.TENSOR_QUANT16_SYMM)

_LAYER_NORM = (SAME,) * 4

_ANCHORS = by_type(dict.fromkeys(QUANT8, _T.TENSOR_QUANT16_SYMM))

RULES: dict[int, OperationRule] = {
    _O.CONV_2D: operation(
        "Conv2D.cpp: conv_2d::validate",
        REAL_1,
        *_padded_forms(4),
        optional=_layout_and_dilation(7),
        checks=(_rank_4, _filter_channel, lambda view: product_level(view, view.inputs[0].scale)),
    ),
    _O.DEPTHWISE_CONV_2D: operation(
        "DepthwiseConv2D.cpp: depthwise_conv_2d::validate",
        REAL_1,
        *_padded_forms(5),
        optional=_layout_and_dilation(8),
        checks=(_depthwise_channel, _depthwise_scale_level),
    ),
    _O.GROUPED_CONV_2D: operation(
        "GroupedConv2D.cpp: grouped_conv2d::validate",
        REAL_3,
        form(*_TENSORS, *integers(5), BOOL),
        form(*_TENSORS, *integers(8), BOOL),
        checks=(_filter_channel,),
    ),
    _O.TRANSPOSE_CONV_2D: operation(
        "TransposeConv2D.cpp: transpose_conv_2d::validate",
        REAL_3,
        form(*_TENSORS, TENSOR_INT32, *integers(4), BOOL),
        form(*_TENSORS, *integers(7), BOOL),
        checks=(_filter_channel,),
    ),
    _O.AVERAGE_POOL_2D: _pooling(REAL_1),
    _O.MAX_POOL_2D: _pooling(REAL_1),
    _O.L2_POOL_2D: _pooling(FLOAT_1),
    _O.FULLY_CONNECTED: operation(
        "FullyConnected.cpp: fully_connected::validate",
        REAL_1,
        form(SAME, SAME, BIAS, INT32),
        checks=(_fully_connected_shape, lambda view: product_level(view, view.outputs[0].scale)),
    ),
    _O.BATCH_MATMUL: operation(
        "BatchMatmul.cpp: batch_matmul_op::validate",
        levels(FLOAT16=6, FLOAT32=6, QUANT8_ASYMM_SIGNED=6, INT32=6),
        form(SAME, SAME, BOOL, BOOL),
    ),
    _O.RNN: operation("RNN.cpp: rnn::validate", FLOAT_1, form(*(SAME,) * 5, INT32), outputs=(form(SAME, SAME),)),
    _O.SVDF: operation("SVDF.cpp: svdf::validate", FLOAT_1, form(*(SAME,) * 5, INT32, INT32), outputs=(form(SAME, SAME),)),
    _O.LSTM: operation(
        "LSTM.cpp: lstm::validate",
        FLOAT_1,
        form(*(SAME,) * 20, INT32, SCALAR, SCALAR),
        form(*(SAME,) * 20, INT32, SCALAR, SCALAR, *_LAYER_NORM, level=3),
        outputs=(form(*(SAME,) * 4),),
    ),
    _O.UNIDIRECTIONAL_SEQUENCE_LSTM: operation(
        "UnidirectionalSequenceLSTM.cpp: unidirectional_sequence_lstm::validate",
        FLOAT_3,
        form(*(SAME,) * 20, INT32, SCALAR, SCALAR, BOOL, *_LAYER_NORM),
        outputs=(form(SAME), form(SAME, SAME, SAME, level=4)),
    ),
    _O.BIDIRECTIONAL_SEQUENCE_LSTM: operation(
        "BidirectionalSequenceLSTM.cpp: bidirectional_sequence_lstm::validate",
        FLOAT_3,
        form(*(SAME,) * 48, INT32, SCALAR, SCALAR, BOOL, BOOL, *_LAYER_NORM, *_LAYER_NORM),
        outputs=(form(SAME), form(SAME, SAME), form(*(SAME,) * 5, level=4), form(*(SAME,) * 6, level=4)),
    ),
    _O.UNIDIRECTIONAL_SEQUENCE_RNN: operation(
        "UnidirectionalSequenceRNN.cpp: unidirectional_sequence_rnn::validate",
        FLOAT_3,
        form(*(SAME,) * 5, INT32, INT32),
        outputs=(form(SAME), form(SAME, SAME, level=4)),
    ),
    _O.BIDIRECTIONAL_SEQUENCE_RNN: operation(
        "BidirectionalSequenceRNN.cpp: bidirectional_sequence_rnn::validate",
        FLOAT_3,
        form(*(SAME,) * 12, INT32, BOOL, BOOL),
        outputs=(form(SAME), form(SAME, SAME), form(*(SAME,) * 3, level=4), form(*(SAME,) * 4, level=4)),
    ),
    # Input, weights, biases, cell state, output state.
    _O.QUANTIZED_16BIT_LSTM: operation(
        "QuantizedLSTM.cpp: quantized_16bit_lstm::validate",
        levels(QUANT8_ASYMM=3),
        form(*(SAME,) * 9, *(TENSOR_INT32,) * 4, _QUANT16_SYMM, SAME),
        outputs=(form(_QUANT16_SYMM, SAME),),
    ),
    _O.QUANTIZED_LSTM: operation(
        "QLSTM.cpp: qlstm::validate",
        levels(QUANT8_ASYMM_SIGNED=4),
        form(
            SAME,
            *(_QUANT8_SYMM,) * 8,  # input and recurrent weights
            *(_QUANT16_SYMM,) * 3,  # cell weights
            *(TENSOR_INT32,) * 4,  # biases of the gates
            _QUANT8_SYMM,  # projection
            TENSOR_INT32,
            SAME,  # output state
            _QUANT16_SYMM,  # cell state
            *(_QUANT16_SYMM,) * 4,  # layer normalization
            *(FLOAT32,) * 6,  # clips, and scales of intermediate results
            INT32,  # quantization of the hidden state
            FLOAT32,
        ),
        outputs=(form(SAME, _QUANT16_SYMM, SAME),),
    ),
    _O.AXIS_ALIGNED_BBOX_TRANSFORM: operation(
        "GenerateProposals.cpp: axis_aligned_bbox_transform::validate",
        {**FLOAT_3, **levels(QUANT16_ASYMM=3)},
        form(SAME, _deltas, TENSOR_INT32, SAME),
    ),
    _O.BOX_WITH_NMS_LIMIT: operation(
        "GenerateProposals.cpp: box_with_nms_limit::validate",
        REAL_3,
        form(SAME, BOXES, TENSOR_INT32, SCALAR, INT32, INT32, SCALAR, SCALAR, SCALAR),
        outputs=(form(SAME, BOXES, TENSOR_INT32, TENSOR_INT32),),
    ),
    _O.GENERATE_PROPOSALS: operation(
        "GenerateProposals.cpp: generate_proposals::validate",
        REAL_3,
        form(SAME, SAME, _ANCHORS, BOXES, SCALAR, SCALAR, INT32, INT32, SCALAR, SCALAR, BOOL),
        outputs=(form(SAME, BOXES, TENSOR_INT32),),
    ),
    _O.DETECTION_POSTPROCESSING: operation(
        "GenerateProposals.cpp: detection_postprocess::validate",
        FLOAT_3,
        form(SAME, SAME, SAME, *(SCALAR,) * 4, BOOL, INT32, INT32, INT32, SCALAR, SCALAR, BOOL),
        outputs=(form(SAME, SAME, TENSOR_INT32, TENSOR_INT32),),
    ),
    _O.HEATMAP_MAX_KEYPOINT: operation(
        "HeatmapMaxKeypoint.cpp: heatmap_max_keypoint::validate", REAL_3, form(SAME, BOXES, BOOL), outputs=(form(SAME, BOXES),)
    ),
    _O.ROI_ALIGN: operation(
        "RoiAlign.cpp: roi_align::validate",
        REAL_3,
        form(SAME, BOXES, TENSOR_INT32, INT32, INT32, SCALAR, SCALAR, INT32, INT32, BOOL),
    ),
    _O.ROI_POOLING: operation(
        "RoiPooling.cpp: roi_pooling::validate", REAL_3, form(SAME, BOXES, TENSOR_INT32, INT32, INT32, SCALAR, SCALAR, BOOL)
    ),
}
