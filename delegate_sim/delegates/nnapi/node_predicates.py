"""Predicates on nodes that the rules and the lowering use (``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.graph import NodeView

QUANTIZED_TYPES = frozenset({"UINT8", "INT8"})
"""All types that ``IsQuantized`` accepts, except INT16."""


def hybrid_with_weights(position: int) -> Callable[[NodeView], bool]:
    """Return the predicate ``IsHybridOperator`` for operators with weights at ``position``.

    Hybrid nodes have float activations and quantized weights.
    """

    def is_hybrid(node: NodeView) -> bool:
        return node.input(0).type == "FLOAT32" and node.input(position).type in QUANTIZED_TYPES

    return is_hybrid


def is_hybrid_lstm(node: NodeView) -> bool:
    """Return whether an LSTM is full and hybrid (``IsHybridOperator``). A basic LSTM is never hybrid."""
    return is_full_lstm(node) and _has_hybrid_weights(node)


_has_hybrid_weights = hybrid_with_weights(2)


def is_basic_lstm(node: NodeView) -> bool:
    """Return whether an LSTM is basic, with one weights operand for all gates (``isLstmBasicKernel``)."""
    return len(node.inputs) == 5


def is_full_lstm(node: NodeView) -> bool:
    """Return whether an LSTM is full, with one weights operand per gate (``isLstmFullKernel``).

    Layer normalization is optional.
    """
    return len(node.inputs) in (20, 24)


def is_runtime_float16_dequantize(node: NodeView) -> bool:
    """Return whether the node converts float16 values that are not constant to float32 (``IsDequantizeNonConstFloat16``)."""
    return node.op == "DEQUANTIZE" and node.input(0).type == "FLOAT16" and not node.input(0).is_constant


def is_constant_densify(node: NodeView) -> bool:
    """Return whether the node unpacks constant sparse weights (``IsDensifyConstTensor``)."""
    return node.op == "DENSIFY" and node.input(0).is_constant
