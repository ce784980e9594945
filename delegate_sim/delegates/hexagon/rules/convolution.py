"""Convolutions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.vocabulary import check
from .checks import INT32, QUANT8, RELU_ACTIVATION, UP_TO_3, hexagon_rule, inputs

_MAX_STRIDE = 3
_SAME, _VALID = 0, 1


def _large_stride(node: NodeView) -> str | None:
    height, width = node.options.stride_h, node.options.stride_w
    return None if max(height, width) <= _MAX_STRIDE else f"strides {height} x {width}"


def _is_dilated(node: NodeView) -> bool:
    return (node.options.dilation_h_factor, node.options.dilation_w_factor) != (1, 1)


def _dilation(node: NodeView) -> str | None:
    return f"dilation {node.options.dilation_h_factor} x {node.options.dilation_w_factor}" if _is_dilated(node) else None


def _dilation_with_strides(node: NodeView) -> str | None:
    height, width = node.options.stride_h, node.options.stride_w
    return f"{_dilation(node)} with strides {height} x {width}" if _is_dilated(node) and (height, width) != (1, 1) else None


def _depth_multiplier(node: NodeView) -> str | None:
    multiplier, source = node.options.depth_multiplier, node.input(0).shape
    if multiplier == 1 or (not _is_dilated(node) and len(source) == 4 and source[3] == 1):
        return None
    return f"depth multiplier {multiplier} with {_dilation(node) or f'an input of shape {list(source)}'}"


def _flat_filter(node: NodeView) -> str | None:
    weights = node.input(1).shape
    return f"a filter of shape {list(weights)}" if len(weights) >= 2 and weights[1] < 2 else None


def _unknown_padding(node: NodeView) -> str | None:
    return None if node.options.table is not None and node.options.padding in (_SAME, _VALID) else "unknown padding"


_CONVOLVED = inputs(QUANT8, QUANT8, INT32)
_SMALL_STRIDES = check(ATTRIBUTE, f"strides at most {_MAX_STRIDE}", _large_stride, "use smaller strides")

RULES = {
    "CONV_2D": hexagon_rule(
        *_CONVOLVED,
        RELU_ACTIVATION,
        _SMALL_STRIDES,
        check(ATTRIBUTE, "no dilation", _dilation, "use a larger filter instead of dilation"),
        version_in=UP_TO_3,
    ),
    "DEPTHWISE_CONV_2D": hexagon_rule(
        *_CONVOLVED,
        check(ATTRIBUTE, "strides of 1 with dilation", _dilation_with_strides, "use strides or dilation, not both"),
        RELU_ACTIVATION,
        _SMALL_STRIDES,
        check(
            SHAPE,
            "a depth multiplier of 1, or a single input channel and no dilation",
            _depth_multiplier,
            "use CONV_2D instead of a depth multiplier",
        ),
        check(SHAPE, "a filter height of at least 2", _flat_filter, "pad the filter with zeros, or use CONV_2D"),
        version_in=UP_TO_3,
    ),
    "TRANSPOSE_CONV": hexagon_rule(
        *inputs(INT32, QUANT8, QUANT8, INT32, optional=1),
        _SMALL_STRIDES,
        check(ATTRIBUTE, "padding SAME or VALID", _unknown_padding),
        version_in=UP_TO_3,
    ),
}
