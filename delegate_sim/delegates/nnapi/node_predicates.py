"""Predicates of nodes that both the acceptance rules and the lowering use (``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.graph import NodeView

QUANTIZED_TYPES = frozenset({"UINT8", "INT8"})
"""``IsQuantized``, which does not count INT16."""


def hybrid_with_weights(position: int) -> Callable[[NodeView], bool]:
    """Return ``IsHybridOperator`` as a predicate, for operators whose weights are the operand at ``position``.

    Hybrid nodes have float activations and quantized weights.
    """

    def is_hybrid(node: NodeView) -> bool:
        return node.input(0).type == "FLOAT32" and node.input(position).type in QUANTIZED_TYPES

    return is_hybrid


def is_hybrid_lstm(node: NodeView) -> bool:
    """``IsHybridOperator`` for LSTM, whose basic form is never hybrid."""
    return is_full_lstm(node) and _has_hybrid_weights(node)


_has_hybrid_weights = hybrid_with_weights(2)


def is_basic_lstm(node: NodeView) -> bool:
    """``isLstmBasicKernel``: an LSTM of the form with concatenated weights."""
    return len(node.inputs) == 5


def is_full_lstm(node: NodeView) -> bool:
    """``isLstmFullKernel``: an LSTM of the form with one operand per gate, with or without layer normalization."""
    return len(node.inputs) in (20, 24)


def is_runtime_float16_dequantize(node: NodeView) -> bool:
    """``IsDequantizeNonConstFloat16``: widens float16 values that are not in the model file."""
    return node.op == "DEQUANTIZE" and node.input(0).type == "FLOAT16" and not node.input(0).is_constant


def is_constant_densify(node: NodeView) -> bool:
    """``IsDensifyConstTensor``: unpacks sparse weights that are in the model file."""
    return node.op == "DENSIFY" and node.input(0).is_constant
