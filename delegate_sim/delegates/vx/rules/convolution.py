"""Convolutions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant
from .checks import OUTPUT_WITH_DIMENSIONS, SAME_TYPES, vx_rule


def _grouped_batch(node: NodeView) -> str | None:
    """Return the shapes of a grouped convolution unless the batch is 1.

    Upstream reads past the end of shapes with fewer than four dimensions. In real runs, the delegate accepted nodes if input and
    weights both had fewer than four dimensions. The delegate refused nodes if only the weights had a fourth dimension.
    """
    source, weights = node.input(0).shape, node.input(1).shape
    is_grouped = source[3:4] != weights[3:4]
    return f"input {list(source)} and weights {list(weights)}" if is_grouped and source[:1] != (1,) else None


_GROUPED_BATCH = check(SHAPE, "a batch of 1 if the convolution is grouped", _grouped_batch, "run with a batch of 1")


def _dilation(node: NodeView) -> str | None:
    options = node.options
    dilation = (options.dilation_d_factor, options.dilation_h_factor, options.dilation_w_factor)
    return f"dilation {' x '.join(map(str, dilation))}" if max(dilation) > 1 else None


_NO_DILATION = check(ATTRIBUTE, "no dilation", _dilation, "use a larger filter instead of dilation")

RULES = {
    "CONV_2D": vx_rule("Conv2dMapper::IsOpSupported", SAME_TYPES, _GROUPED_BATCH),
    "CONV_3D": vx_rule("Conv3dMapper::IsOpSupported", _NO_DILATION, SAME_TYPES, constant(operand(1, "filter"))),
    "DEPTHWISE_CONV_2D": vx_rule("DepthwiseConv2dMapper::IsOpSupported", SAME_TYPES),
    "TRANSPOSE_CONV": vx_rule("TransposeConvMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
}
