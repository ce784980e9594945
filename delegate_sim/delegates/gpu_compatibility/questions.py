"""Properties of nodes that the rules and the model building of the GPU delegates use."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...graph.graph import NodeView

ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGMOID")
"""Fused activations that the GPU supports (``IsActivationSupported``, ``gpu_compatibility.cc``).

A model file cannot store SIGMOID.
"""

_RUNTIME_ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT", "SIGMOID")
"""The names of activations, in the order of the values of ``TfLiteFusedActivation``."""


def runtime_input_count(node: NodeView) -> int:
    """Return the number of operands that are present and not constant (``GetNumberOfRuntimeInputs``)."""
    tensors = node.graph.tensors
    return len([index for index in node.node.inputs if index >= 0 and not tensors[index].is_constant])


@dataclass(frozen=True, slots=True)
class PoolParameters:
    """The fields of ``TfLitePoolParams`` that the rules use."""

    stride_width: int
    stride_height: int
    filter_width: int
    filter_height: int
    activation: str


def custom_pool_parameters(node: NodeView) -> PoolParameters | None:
    """Return the ``TfLitePoolParams`` of MediaPipe's custom operators, or None if there are no custom options."""
    words = _custom_words(node, 6)
    if words is None:
        return None
    _, stride_width, stride_height, filter_width, filter_height, activation = words
    is_known = 0 <= activation < len(_RUNTIME_ACTIVATIONS)
    name = _RUNTIME_ACTIVATIONS[activation] if is_known else f"activation {activation}"
    return PoolParameters(stride_width, stride_height, filter_width, filter_height, name)


def custom_strides(node: NodeView) -> tuple[int, int] | None:
    """Return the vertical and the horizontal stride of a custom operator (``TfLiteTransposeConvParams``).

    Return None if there are no custom options.
    """
    words = _custom_words(node, 3)
    return None if words is None else (words[2], words[1])


def _custom_words(node: NodeView, count: int) -> tuple[int, ...] | None:
    """Return the first ``count`` 32-bit words of the custom options, or None if there are no custom options.

    Missing words are 0.
    """
    if node.node.custom_options is None:
        return None
    offset, size = node.node.custom_options
    content = bytes(node.graph.model.content[offset : offset + size]).ljust(4 * count, b"\0")
    return struct.unpack_from(f"<{count}i", content)


def is_full_lstm(node: NodeView) -> bool:
    """Return whether an LSTM has the full form (``kTfLiteLSTMFullKernel``)."""
    return node.op == "LSTM" and node.options.kernel_type != 1


OUTPUT_STATE, CELL_STATE = 18, 19
"""The positions of a full LSTM's states. The LSTM reads and writes the states."""
