"""Convolutions, pooling and resizing."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant
from .checks import INT32, NO_ACTIVATION, QUANT8, RELU_ACTIVATION, UP_TO_2, UP_TO_3, hexagon_rule, inputs

_MAX_STRIDE = 3
_MAX_WINDOW = 12
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


def _large_padded_window(node: NodeView) -> str | None:
    options = node.options
    is_large = max(options.filter_height, options.filter_width) > _MAX_WINDOW
    if not is_large or options.table is None or options.padding != _SAME:
        return None
    return f"a window of {options.filter_height} x {options.filter_width} with padding SAME"


def _size_count(node: NodeView) -> str | None:
    found = node.input(1).element_count
    return None if found == 2 else f"a size of {found} elements"


_CONVOLVED = inputs(QUANT8, QUANT8, INT32)
_SIZED = (*inputs(QUANT8, INT32), constant(operand(1, "size")))
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
            "depth multiplier 1, or a single input channel and no dilation",
            _depth_multiplier,
            "use CONV_2D instead of a depth multiplier",
        ),
        check(SHAPE, "a filter at least 2 high", _flat_filter, "pad the filter with zeros, or use CONV_2D"),
        version_in=UP_TO_3,
    ),
    "TRANSPOSE_CONV": hexagon_rule(
        *inputs(INT32, QUANT8, QUANT8, INT32, optional=1),
        _SMALL_STRIDES,
        check(ATTRIBUTE, "padding SAME or VALID", _unknown_padding),
        version_in=UP_TO_3,
    ),
    "MAX_POOL_2D": hexagon_rule(
        *inputs(QUANT8),
        check(
            ATTRIBUTE,
            f"a window of at most {_MAX_WINDOW} x {_MAX_WINDOW}, or padding VALID",
            _large_padded_window,
            "pad with an operator of its own, or split the pooling",
        ),
        NO_ACTIVATION,
        version_in=UP_TO_2,
    ),
    "AVERAGE_POOL_2D": hexagon_rule(*inputs(QUANT8), NO_ACTIVATION, version_in=UP_TO_2),
    "RESIZE_NEAREST_NEIGHBOR": hexagon_rule(*_SIZED, version_in=UP_TO_3),
    "RESIZE_BILINEAR": hexagon_rule(*_SIZED, check(SHAPE, "a size of 2 elements", _size_count), version_in=UP_TO_3),
}
