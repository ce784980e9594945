"""Recurrent layers."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import in_code
from ....rules.kinds import OPTIONAL_OPERAND, TENSOR_TYPE
from ....rules.operands import INPUT, OUTPUT, operand
from ....rules.vocabulary import refused_if, same_type, typed
from .checks import EIGHT_BITS, vx_rule

_INPUT_WEIGHTS = operand(1, "input weight matrix")
_OUTPUT_STATE, _CELL_STATE = operand(18, "output state"), operand(19, "cell state")
"""Operands of UNIDIRECTIONAL_SEQUENCE_LSTM (``kernels/lstm_shared.h``)."""
_PROJECTION_WEIGHTS, _AUXILIARY_WEIGHTS = operand(16), operand(42)
"""The operands of BIDIRECTIONAL_SEQUENCE_LSTM that upstream checks: operands of the forward cell."""
_AUXILIARY_INPUT, _AUXILIARY_INPUT_WEIGHTS = operand(9), operand(10)
"""Operands of BIDIRECTIONAL_SEQUENCE_RNN.

If the list of operands is too short, upstream reads past the end of the list. Here, the node is refused
(``rules/malformed.py``).
"""

_FLOAT_WEIGHTS = typed(_INPUT_WEIGHTS, ("FLOAT32",), hint="convert without quantization")
"""Require float weights.

If the weights are omitted, upstream reads memory before the array of tensors. In real runs, the delegate refused the node.
"""


def _without_auxiliary_weights(node: NodeView) -> bool:
    return _AUXILIARY_INPUT.is_given(node) and not _AUXILIARY_INPUT_WEIGHTS.is_given(node)


RULES = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": vx_rule(
        "BidirectionalSequenceLstm::IsOpSupported",
        _FLOAT_WEIGHTS,
        refused_if(
            OPTIONAL_OPERAND,
            "no projection weights",
            _PROJECTION_WEIGHTS.is_given,
            "projection weights",
            "build the layer without a projection",
        ),
        refused_if(
            OPTIONAL_OPERAND,
            "no auxiliary weights",
            _AUXILIARY_WEIGHTS.is_given,
            "auxiliary weights",
            "build the layer without an auxiliary input",
        ),
    ),
    "BIDIRECTIONAL_SEQUENCE_RNN": vx_rule(
        "BidirectionalSequenceRnn::IsOpSupported",
        _FLOAT_WEIGHTS,
        refused_if(
            OPTIONAL_OPERAND,
            "weights for the auxiliary input",
            _without_auxiliary_weights,
            "an auxiliary input without weights",
            "build the layer without an auxiliary input",
        ),
    ),
    "RNN": vx_rule("Rnn"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": vx_rule(
        "UnidirectionalSequenceLstm::IsOpSupported",
        typed(INPUT, EIGHT_BITS, hint="quantize to 8 bits"),
        same_type(_OUTPUT_STATE, OUTPUT, kind=TENSOR_TYPE, hint=in_code("give the output and the output state the same type")),
        typed(_CELL_STATE, ("FLOAT16", "INT16"), hint="quantize to 8 bits"),
    ),
    "UNIDIRECTIONAL_SEQUENCE_RNN": vx_rule("UnidirectionalSequenceRnn::IsOpSupported", _FLOAT_WEIGHTS),
}
