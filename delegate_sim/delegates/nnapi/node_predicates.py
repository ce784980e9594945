"""Questions about a node that both the acceptance rules and the mapping ask (``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from ...graph.graph import NodeView

QUANTIZED_TYPES = frozenset({"UINT8", "INT8"})
"""``IsQuantized``: INT16 is none of them."""

_WEIGHTS_POSITION = {
    "CONV_2D": 1,
    "FULLY_CONNECTED": 1,
    "LSTM": 2,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": 2,
    "BIDIRECTIONAL_SEQUENCE_LSTM": 2,
    "UNIDIRECTIONAL_SEQUENCE_RNN": 1,
}


def is_hybrid(node: NodeView) -> bool:
    """``IsHybridOperator``: float activations with quantised weights, of an operator that has such a form."""
    position = _WEIGHTS_POSITION.get(node.op)
    if position is None or (node.op == "LSTM" and not is_full_lstm(node)):
        return False
    return node.input(0).type == "FLOAT32" and node.input(position).type in QUANTIZED_TYPES


def is_basic_lstm(node: NodeView) -> bool:
    """``isLstmBasicKernel``: an LSTM of the form with concatenated weights."""
    return len(node.inputs) == 5


def is_full_lstm(node: NodeView) -> bool:
    """``isLstmFullKernel``: an LSTM of the form with one operand per gate, with or without layer normalisation."""
    return len(node.inputs) in (20, 24)


def is_runtime_float16_dequantize(node: NodeView) -> bool:
    """``IsDequantizeNonConstFloat16``: widens float16 values that are not in the model file."""
    return node.op == "DEQUANTIZE" and node.input(0).type == "FLOAT16" and not node.input(0).is_constant


def is_constant_densify(node: NodeView) -> bool:
    """``IsDensifyConstTensor``: unpacks sparse weights that are in the model file."""
    return node.op == "DENSIFY" and node.input(0).is_constant
