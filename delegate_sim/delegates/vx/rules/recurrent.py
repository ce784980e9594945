"""Recurrent cells (``op_map.cc``).

Source: ``Rnn``, ``UnidirectionalSequenceRnn``, ``BidirectionalSequenceRnn``, ``UnidirectionalSequenceLstm`` and
``BidirectionalSequenceLstm``.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from .checks import OPTIONAL_OPERAND, TENSOR_TYPE, check, found_if, vx_rule

_OUTPUT_STATE, _CELL_STATE = 18, 19
"""Operands of UNIDIRECTIONAL_SEQUENCE_LSTM (``kernels/lstm_shared.h``)."""
_PROJECTION_WEIGHTS, _AUXILIARY_WEIGHTS = 16, 42
"""Operands of BIDIRECTIONAL_SEQUENCE_LSTM: those of the forward cell that upstream looks at."""
_AUXILIARY_INPUT, _AUXILIARY_INPUT_WEIGHTS = 9, 10
"""Operands of BIDIRECTIONAL_SEQUENCE_RNN."""


def _is_given(node: NodeView, position: int) -> bool:
    """Whether an optional operand is there. Upstream reads past the operands of a node that has fewer."""
    return position < len(node.node.inputs) and node.node.inputs[position] >= 0


def _weights_type(node: NodeView) -> str | None:
    """Upstream reads in front of the tensors if the weights are left out, and was seen to refuse the node then."""
    if not _is_given(node, 1):
        return "no input weights"
    found = node.input(1).type
    return None if found == "FLOAT32" else f"{found} weights"


_FLOAT_WEIGHTS = check(TENSOR_TYPE, "FLOAT32 input weights", _weights_type, "convert without quantisation")


def _without_auxiliary_weights(node: NodeView) -> bool:
    return _is_given(node, _AUXILIARY_INPUT) and not _is_given(node, _AUXILIARY_INPUT_WEIGHTS)


def _other_state_type(node: NodeView) -> str | None:
    state, result = node.input(_OUTPUT_STATE).type, node.output(0).type
    return None if state == result else f"{state} state and {result} output"


def _input_type(node: NodeView) -> str | None:
    found = node.input(0).type
    return None if found in ("UINT8", "INT8") else f"an input of type {found}"


def _cell_state_type(node: NodeView) -> str | None:
    found = node.input(_CELL_STATE).type
    return None if found in ("FLOAT16", "INT16") else f"a cell state of type {found}"


_UNIDIRECTIONAL_LSTM = (
    check(TENSOR_TYPE, "a UINT8 or INT8 input", _input_type, "quantise to 8 bits"),
    check(TENSOR_TYPE, "an output state of the output's type", _other_state_type),
    check(TENSOR_TYPE, "a FLOAT16 or INT16 cell state", _cell_state_type, "quantise to 8 bits"),
)

_BIDIRECTIONAL_LSTM = (
    _FLOAT_WEIGHTS,
    check(
        OPTIONAL_OPERAND,
        "no projection weights",
        found_if(lambda node: _is_given(node, _PROJECTION_WEIGHTS), "projection weights"),
        "build the layer without projection",
    ),
    check(
        OPTIONAL_OPERAND,
        "no auxiliary weights",
        found_if(lambda node: _is_given(node, _AUXILIARY_WEIGHTS), "auxiliary weights"),
        "build the layer without auxiliary input",
    ),
)

RULES = {
    "RNN": vx_rule(),
    "UNIDIRECTIONAL_SEQUENCE_RNN": vx_rule(_FLOAT_WEIGHTS),
    "BIDIRECTIONAL_SEQUENCE_RNN": vx_rule(
        _FLOAT_WEIGHTS,
        check(
            OPTIONAL_OPERAND,
            "auxiliary weights for an auxiliary input",
            found_if(_without_auxiliary_weights, "an auxiliary input without weights"),
            "build the layer without auxiliary input",
        ),
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": vx_rule(*_UNIDIRECTIONAL_LSTM),
    "BIDIRECTIONAL_SEQUENCE_LSTM": vx_rule(*_BIDIRECTIONAL_LSTM),
}
