"""Recurrent layers."""

from __future__ import annotations

from ..types import OperandType, OperationType
from .levels import FLOAT_1, FLOAT_3, levels
from .signature import BOOL, FLOAT32, INT32, SAME, SCALAR, TENSOR_INT32, OperationRule, form, one_of

_T = OperandType
_O = OperationType


_QUANT8_SYMM = one_of(_T.TENSOR_QUANT8_SYMM)
_QUANT16_SYMM = one_of(_T.TENSOR_QUANT16_SYMM)

_LAYER_NORM = (SAME,) * 4

RULES: dict[int, OperationRule] = {
    _O.RNN: OperationRule("RNN.cpp: rnn::validate", FLOAT_1, (form(*(SAME,) * 5, INT32),), (form(SAME, SAME),)),
    _O.SVDF: OperationRule("SVDF.cpp: svdf::validate", FLOAT_1, (form(*(SAME,) * 5, INT32, INT32),), (form(SAME, SAME),)),
    _O.LSTM: OperationRule(
        "LSTM.cpp: lstm::validate",
        FLOAT_1,
        (
            form(*(SAME,) * 20, INT32, SCALAR, SCALAR),
            form(*(SAME,) * 20, INT32, SCALAR, SCALAR, *_LAYER_NORM, level=3),
        ),
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
}
