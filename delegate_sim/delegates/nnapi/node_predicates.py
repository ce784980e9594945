"""Predicates on nodes that both the acceptance rules and the lowering use (``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.graph import NodeView

QUANTIZED_TYPES = frozenset({"UINT8", "INT8"})
"""The types that ``IsQuantized`` accepts; INT16 is not one of them."""


def hybrid_with_weights(position: int) -> Callable[[NodeView], bool]:
    """Return the predicate ``IsHybridOperator`` for operators whose weights are the operand at ``position``.

    Hybrid nodes have float activations and quantized weights.
    """

    def is_hybrid(node: NodeView) -> bool:
        return node.input(0).type == "FLOAT32" and node.input(position).type in QUANTIZED_TYPES

    return is_hybrid


def is_hybrid_lstm(node: NodeView) -> bool:
    """``IsHybridOperator`` for LSTM: a full LSTM may be hybrid, a basic LSTM never is."""
    return is_full_lstm(node) and _has_hybrid_weights(node)


_has_hybrid_weights = hybrid_with_weights(2)


def is_basic_lstm(node: NodeView) -> bool:
    """``isLstmBasicKernel``: return whether the LSTM is basic, with the weights of all gates concatenated in one operand."""
    return len(node.inputs) == 5


def is_full_lstm(node: NodeView) -> bool:
    """``isLstmFullKernel``: return whether the LSTM is full, with one weights operand per gate.

    Layer normalization is optional.
    """
    return len(node.inputs) in (20, 24)


def is_runtime_float16_dequantize(node: NodeView) -> bool:
    """``IsDequantizeNonConstFloat16``: return whether the node converts float16 values that are not constant to float32."""
    return node.op == "DEQUANTIZE" and node.input(0).type == "FLOAT16" and not node.input(0).is_constant


def is_constant_densify(node: NodeView) -> bool:
    """``IsDensifyConstTensor``: return whether the node unpacks constant sparse weights."""
    return node.op == "DENSIFY" and node.input(0).is_constant
