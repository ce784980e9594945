"""Convolutions, matrix products and resizing.

Source: ``IsConvolutionOpSupported`` (``builders/convolution_op_builder.cc``), ``IsFullyConnectedOpSupported``
(``builders/fully_connected_op_builder.cc``) and ``IsResizeBilinearOpSupported`` (``builders/resize_bilinear_op_builder.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ...finders import fused_activation
from ..kernel import has_missing_bias
from .checks import (
    ACTIVATION,
    ATTRIBUTE,
    SHAPE,
    check,
    constant,
    constant_if_present,
    coreml_rule,
    float_if_present,
    of_operand,
)

_MAX_FILTER = 16384


def _sign_bit(node: NodeView) -> str | None:
    return "fused SIGN_BIT" if fused_activation(node) == "SIGN_BIT" else None


def _large_filter(weights: Tensor) -> str | None:
    return f"a filter of shape {list(weights.shape)}" if max(weights.shape[1:3], default=0) > _MAX_FILTER else None


def _several_rows(node: NodeView) -> str | None:
    """A scalar does not count as a row either."""
    source = node.input(0)
    return None if source.shape[-1:] == (source.element_count,) else f"input shape {list(source.shape)}"


def _sign_bit_with_bias(node: NodeView) -> str | None:
    """With a bias that is named and left out, the delegate accepts the node before it comes to the activation."""
    return None if has_missing_bias(node) else _sign_bit(node)


def _weights_format(node: NodeView) -> str | None:
    return "shuffled weights" if node.options.weights_format else None


_NO_SIGN_BIT = check(ACTIVATION, "an activation other than SIGN_BIT", _sign_bit)
_WEIGHTS = (
    constant_if_present(1, "filter"),
    of_operand(1, SHAPE, f"a filter of at most {_MAX_FILTER} x {_MAX_FILTER}", _large_filter),
)
_CONVOLUTION = (_NO_SIGN_BIT, *_WEIGHTS, *constant(2, "bias"))

RULES = {
    "CONV_2D": coreml_rule(*_CONVOLUTION),
    "DEPTHWISE_CONV_2D": coreml_rule(*_CONVOLUTION, version=2),
    "TRANSPOSE_CONV": coreml_rule(*_WEIGHTS, *constant(0, "output shape"), data=2),
    "FULLY_CONNECTED": coreml_rule(
        check(ATTRIBUTE, "weights_format DEFAULT", _weights_format),
        float_if_present(1, "weights"),
        constant_if_present(1, "weights"),
        check(SHAPE, "one row of input", _several_rows, "run with a batch of 1, and flatten the input"),
        float_if_present(2, "bias"),
        constant_if_present(2, "bias"),
        check(ACTIVATION, "an activation other than SIGN_BIT", _sign_bit_with_bias),
        version=6,
    ),
    "RESIZE_BILINEAR": coreml_rule(*constant(1, "size")),
}
