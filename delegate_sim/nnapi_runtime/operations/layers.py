"""Convolutions, pooling, matrix products, recurrent layers and detection."""

from __future__ import annotations

from ..operands import FALSE, ONE, OptionalInputs
from ..refusal import OperandPart, ProcessAborted, Rule, Violation, rule
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
    SignatureCheck,
    Slot,
    by_type,
    form,
    integers,
    levels,
    one_of,
    product_level,
)

_T = OperandType
_O = OperationType

CONV_RANK = rule("operation-conv-rank")
FILTER_CHANNEL = rule("operation-filter-channel")
DEPTHWISE_CHANNEL = rule("operation-depthwise-filter-channel")

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


def _filter_channel(dimension: int, rule: Rule) -> SignatureCheck:
    def find(view: OperationView) -> Violation | None:
        filter_ = view.inputs[1]
        if filter_.type != _T.TENSOR_QUANT8_SYMM_PER_CHANNEL:
            return None
        if filter_.channels is None:
            raise ProcessAborted(f"the per-channel filter of {view.name} has no scales")
        if filter_.channels.dimension == dimension:
            return None
        return OperandPart("input", 1, "channel dimension"), filter_.channels.dimension, dimension

    return SignatureCheck(rule, find)


def _rank_4(view: OperationView) -> Violation | None:
    for index in (0, 1):
        rank = view.inputs[index].rank
        if rank not in {0, 4}:
            return OperandPart("input", index, "rank"), rank, "4"
    return None


def _depthwise_scale_level(view: OperationView) -> int:
    """Return the feature level that the output's scale needs. From Android 11 on, the runtime reads the input's scale instead."""
    is_real = view.android < AndroidRelease.ANDROID_11
    return product_level(view, (view.outputs if is_real else view.inputs)[0].scale)


_POOLING_LAYOUT = (OptionalInputs(10, (FALSE,), (7, _T.INT32)), OptionalInputs(7, (FALSE,), (7, _T.BOOL)))


def _pooling(table: dict[int, int]) -> OperationRule:
    forms: list[Form] = []
    for numbers in (6, 9):
        forms += [form(SAME, *integers(numbers)), form(SAME, *integers(numbers), BOOL, level=3)]
    return OperationRule("Pooling.cpp: pooling::validate", table, tuple(forms), optional=_POOLING_LAYOUT)


FULLY_CONNECTED_SHAPE = rule("operation-fully-connected-shape")


def _fully_connected_shape(view: OperationView) -> Violation | None:
    given, weights, bias = (operand.dimensions for operand in view.inputs[:3])
    if not given or not weights or not bias:
        return None
    ranks = (len(given), len(weights), len(bias))
    if not (2 <= ranks[0] <= 4 and ranks[1:] == (2, 1)):
        return "ranks of input, weights and bias", f"{ranks[0]}, {ranks[1]}, {ranks[2]}", "2 to 4, 2, 1"
    units, columns = weights
    elements = element_count(given)
    if columns and elements % columns:
        return OperandPart("input", 0, "elements"), elements, f"a multiple of {columns}, the number of columns of the weights"
    if units and bias[0] and units != bias[0]:
        return OperandPart("input", 2, "elements"), bias[0], f"{units}, the number of rows of the weights"
    return None


_QUANT8_SYMM = one_of(_T.TENSOR_QUANT8_SYMM)
_QUANT16_SYMM = one_of(_T.TENSOR_QUANT16_SYMM)

_LAYER_NORM = (SAME,) * 4

_ANCHORS = by_type(dict.fromkeys(QUANT8, _T.TENSOR_QUANT16_SYMM))
_DELTAS = Slot(lambda decider: QUANT8 if decider == _T.TENSOR_QUANT16_ASYMM else frozenset({decider}))

RULES: dict[int, OperationRule] = {
    _O.CONV_2D: OperationRule(
        "Conv2D.cpp: conv_2d::validate",
        REAL_1,
        _padded_forms(4),
        checks=(SignatureCheck(CONV_RANK, _rank_4), _filter_channel(0, FILTER_CHANNEL)),
        # By mistake, the runtime reads the scale of the input instead of the scale of the output.
        raises=(lambda view: product_level(view, view.inputs[0].scale),),
        optional=_layout_and_dilation(7),
    ),
    _O.DEPTHWISE_CONV_2D: OperationRule(
        "DepthwiseConv2D.cpp: depthwise_conv_2d::validate",
        REAL_1,
        _padded_forms(5),
        checks=(_filter_channel(3, DEPTHWISE_CHANNEL),),
        raises=(_depthwise_scale_level,),
        optional=_layout_and_dilation(8),
    ),
    _O.GROUPED_CONV_2D: OperationRule(
        "GroupedConv2D.cpp: grouped_conv2d::validate",
        REAL_3,
        (form(*_TENSORS, *integers(5), BOOL), form(*_TENSORS, *integers(8), BOOL)),
        checks=(_filter_channel(0, FILTER_CHANNEL),),
    ),
    _O.TRANSPOSE_CONV_2D: OperationRule(
        "TransposeConv2D.cpp: transpose_conv_2d::validate",
        REAL_3,
        (form(*_TENSORS, TENSOR_INT32, *integers(4), BOOL), form(*_TENSORS, *integers(7), BOOL)),
        checks=(_filter_channel(0, FILTER_CHANNEL),),
    ),
    _O.AVERAGE_POOL_2D: _pooling(REAL_1),
    _O.MAX_POOL_2D: _pooling(REAL_1),
    _O.L2_POOL_2D: _pooling(FLOAT_1),
    _O.FULLY_CONNECTED: OperationRule(
        "FullyConnected.cpp: fully_connected::validate",
        REAL_1,
        (form(SAME, SAME, BIAS, INT32),),
        checks=(SignatureCheck(FULLY_CONNECTED_SHAPE, _fully_connected_shape),),
        raises=(lambda view: product_level(view, view.outputs[0].scale),),
    ),
    _O.BATCH_MATMUL: OperationRule(
        "BatchMatmul.cpp: batch_matmul_op::validate",
        levels(FLOAT16=6, FLOAT32=6, QUANT8_ASYMM_SIGNED=6, INT32=6),
        (form(SAME, SAME, BOOL, BOOL),),
    ),
    _O.RNN: OperationRule("RNN.cpp: rnn::validate", FLOAT_1, (form(*(SAME,) * 5, INT32),), (form(SAME, SAME),)),
    _O.SVDF: OperationRule("SVDF.cpp: svdf::validate", FLOAT_1, (form(*(SAME,) * 5, INT32, INT32),), (form(SAME, SAME),)),
    _O.LSTM: OperationRule(
        "LSTM.cpp: lstm::validate",
        FLOAT_1,
        (form(*(SAME,) * 20, INT32, SCALAR, SCALAR), form(*(SAME,) * 20, INT32, SCALAR, SCALAR, *_LAYER_NORM, level=3)),
        (form(*(SAME,) * 4),),
    ),
    _O.UNIDIRECTIONAL_SEQUENCE_LSTM: OperationRule(
        "UnidirectionalSequenceLSTM.cpp: unidirectional_sequence_lstm::validate",
        FLOAT_3,
        (form(*(SAME,) * 20, INT32, SCALAR, SCALAR, BOOL, *_LAYER_NORM),),
        (form(SAME), form(SAME, SAME, SAME, level=4)),
    ),
    _O.BIDIRECTIONAL_SEQUENCE_LSTM: OperationRule(
        "BidirectionalSequenceLSTM.cpp: bidirectional_sequence_lstm::validate",
        FLOAT_3,
        (form(*(SAME,) * 48, INT32, SCALAR, SCALAR, BOOL, BOOL, *_LAYER_NORM, *_LAYER_NORM),),
        (form(SAME), form(SAME, SAME), form(*(SAME,) * 5, level=4), form(*(SAME,) * 6, level=4)),
    ),
    _O.UNIDIRECTIONAL_SEQUENCE_RNN: OperationRule(
        "UnidirectionalSequenceRNN.cpp: unidirectional_sequence_rnn::validate",
        FLOAT_3,
        (form(*(SAME,) * 5, INT32, INT32),),
        (form(SAME), form(SAME, SAME, level=4)),
    ),
    _O.BIDIRECTIONAL_SEQUENCE_RNN: OperationRule(
        "BidirectionalSequenceRNN.cpp: bidirectional_sequence_rnn::validate",
        FLOAT_3,
        (form(*(SAME,) * 12, INT32, BOOL, BOOL),),
        (form(SAME), form(SAME, SAME), form(*(SAME,) * 3, level=4), form(*(SAME,) * 4, level=4)),
    ),
    # Input, weights, biases, cell state, output state.
    _O.QUANTIZED_16BIT_LSTM: OperationRule(
        "QuantizedLSTM.cpp: quantized_16bit_lstm::validate",
        levels(QUANT8_ASYMM=3),
        (form(*(SAME,) * 9, *(TENSOR_INT32,) * 4, _QUANT16_SYMM, SAME),),
        (form(_QUANT16_SYMM, SAME),),
    ),
    _O.QUANTIZED_LSTM: OperationRule(
        "QLSTM.cpp: qlstm::validate",
        levels(QUANT8_ASYMM_SIGNED=4),
        (
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
        ),
        (form(SAME, _QUANT16_SYMM, SAME),),
    ),
    _O.AXIS_ALIGNED_BBOX_TRANSFORM: OperationRule(
        "GenerateProposals.cpp: axis_aligned_bbox_transform::validate",
        {**FLOAT_3, **levels(QUANT16_ASYMM=3)},
        (form(SAME, _DELTAS, TENSOR_INT32, SAME),),
    ),
    _O.BOX_WITH_NMS_LIMIT: OperationRule(
        "GenerateProposals.cpp: box_with_nms_limit::validate",
        REAL_3,
        (form(SAME, BOXES, TENSOR_INT32, SCALAR, INT32, INT32, SCALAR, SCALAR, SCALAR),),
        (form(SAME, BOXES, TENSOR_INT32, TENSOR_INT32),),
    ),
    _O.GENERATE_PROPOSALS: OperationRule(
        "GenerateProposals.cpp: generate_proposals::validate",
        REAL_3,
        (form(SAME, SAME, _ANCHORS, BOXES, SCALAR, SCALAR, INT32, INT32, SCALAR, SCALAR, BOOL),),
        (form(SAME, BOXES, TENSOR_INT32),),
    ),
    _O.DETECTION_POSTPROCESSING: OperationRule(
        "GenerateProposals.cpp: detection_postprocess::validate",
        FLOAT_3,
        (form(SAME, SAME, SAME, *(SCALAR,) * 4, BOOL, INT32, INT32, INT32, SCALAR, SCALAR, BOOL),),
        (form(SAME, SAME, TENSOR_INT32, TENSOR_INT32),),
    ),
    _O.HEATMAP_MAX_KEYPOINT: OperationRule(
        "HeatmapMaxKeypoint.cpp: heatmap_max_keypoint::validate", REAL_3, (form(SAME, BOXES, BOOL),), (form(SAME, BOXES),)
    ),
    _O.ROI_ALIGN: OperationRule(
        "RoiAlign.cpp: roi_align::validate",
        REAL_3,
        (form(SAME, BOXES, TENSOR_INT32, INT32, INT32, SCALAR, SCALAR, INT32, INT32, BOOL),),
    ),
    _O.ROI_POOLING: OperationRule(
        "RoiPooling.cpp: roi_pooling::validate", REAL_3, (form(SAME, BOXES, TENSOR_INT32, INT32, INT32, SCALAR, SCALAR, BOOL),)
    ),
}
