"""Convolutions, matrix products and pooling (``op_map.cc``).

Source: ``Conv2dMapper``, ``DepthwiseConv2dMapper``, ``TransposeConvMapper``, ``Conv3dMapper``, ``FullyConnectedMapper``,
``BatchMatmul`` and ``Pool2dMapper``.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from .checks import (
    ATTRIBUTE,
    HYBRID,
    SHAPE,
    TENSOR_TYPE,
    check,
    constant,
    found_if,
    not_of_type,
    of_inputs,
    output_with_dimensions,
    same_types,
    vx_rule,
    vx_rules,
)


def _grouped_batch(node: NodeView) -> str | None:
    """Upstream reads past the shapes of tensors with fewer than four dimensions.

    It was seen to accept a node where neither has a fourth, and to refuse one where the weights alone have it.
    """
    source, weights = node.input(0).shape, node.input(1).shape
    is_grouped = source[3:4] != weights[3:4]
    return f"input {list(source)} and weights {list(weights)}" if is_grouped and source[:1] != (1,) else None


_GROUPED_BATCH = check(SHAPE, "a batch of 1 if the convolution is grouped", _grouped_batch, "run with a batch of 1")


def _dilation(node: NodeView) -> str | None:
    options = node.options
    dilation = (options.dilation_d_factor, options.dilation_h_factor, options.dilation_w_factor)
    return f"dilation {' x '.join(map(str, dilation))}" if max(dilation) > 1 else None


_CONV_3D = (
    check(ATTRIBUTE, "no dilation", _dilation, "use a larger filter in place of dilation"),
    same_types(),
    constant(1, "filter"),
)

_FULLY_CONNECTED = (
    same_types(),
    check(ATTRIBUTE, "weights_format DEFAULT", found_if(lambda node: node.options.weights_format != 0, "shuffled weights")),
    *of_inputs(not_of_type("INT16", hint="quantise activations to 8 bits")),
)


def _mixed_matrices(node: NodeView) -> str | None:
    first, second = node.input(0).type, node.input(1).type
    return f"{first} and {second} inputs" if {first, second} == {"FLOAT32", "INT8"} else None


NO_INT32_OUTPUT = check(
    TENSOR_TYPE, "an output that is not INT32", found_if(lambda node: node.output(0).type == "INT32", "an INT32 output")
)
_NO_FLOAT_WITH_INT8 = check(HYBRID, "inputs other than FLOAT32 with INT8", _mixed_matrices, "quantise both, or neither")
NOT_BOTH_ADJOINT = check(
    ATTRIBUTE,
    "adj_x or adj_y, not both",
    found_if(lambda node: bool(node.options.adj_x and node.options.adj_y), "adj_x and adj_y"),
    "swap the operands and transpose the result",
)

RULES = {
    "CONV_2D": vx_rule(same_types(), _GROUPED_BATCH),
    "DEPTHWISE_CONV_2D": vx_rule(same_types()),
    "TRANSPOSE_CONV": vx_rule(output_with_dimensions()),
    "CONV_3D": vx_rule(*_CONV_3D),
    "FULLY_CONNECTED": vx_rule(*_FULLY_CONNECTED),
    "BATCH_MATMUL": vx_rule(NO_INT32_OUTPUT, _NO_FLOAT_WITH_INT8, NOT_BOTH_ADJOINT),
    **vx_rules(("AVERAGE_POOL_2D", "MAX_POOL_2D")),
}
