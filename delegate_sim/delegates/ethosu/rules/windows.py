"""Checks of the strides and filters of convolutions and pooling."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model import schema
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.vocabulary import check
from .checks import size, upstream

_STRIDES = range(1, 4)


def is_global_pooling(node: NodeView) -> bool:
    """Return whether a pooling window and its strides are as large as the input.

    For such a window, the delegate assumes strides of 1 and no padding (``NeedFixedStrideAndPadding``).
    """
    if node.op not in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        return False
    height, width = size(node.input(0), 1), size(node.input(0), 2)
    options = node.options
    return (width, height) == (options.filter_width, options.filter_height) == (options.stride_w, options.stride_h)


def strides(node: NodeView) -> tuple[int, int]:
    """Return the horizontal and the vertical stride that the delegate assumes."""
    return (1, 1) if is_global_pooling(node) else (node.options.stride_w, node.options.stride_h)


def is_valid_padding(node: NodeView) -> bool:
    """Return whether the delegate assumes VALID padding."""
    return is_global_pooling(node) or node.options.padding == schema.enum_values("Padding")["VALID"]


def _large_stride(node: NodeView) -> str | None:
    across, down = strides(node)
    return None if across in _STRIDES and down in _STRIDES else f"strides {across} (across) and {down} (down)"


STRIDES = upstream("ConstraintStrideRange", check(ATTRIBUTE, "strides of 1 to 3", _large_stride, "use strides of 1 to 3"))


def _reduced(stride: int, width: int) -> int:
    """Return the horizontal stride after the delegate has reduced it by reshaping the input."""
    if stride <= 1:
        return stride
    folded = stride
    if width % stride:
        divisor = next((part for part in (2, 3) if stride % part == 0), 1)
        folded = stride // divisor if divisor > 1 else 1
    return stride // folded


def allows_wide_stride(node: NodeView, source: int = 0) -> bool:
    """Return whether both strides are 1 to 3, or the horizontal stride can be reduced to 1 to 3.

    Upstream also allows any stride along a dimension of size 1. By mistake, it tests the dimension of the input instead of the
    dimension of the output.
    """
    across, down = strides(node)
    height, width = size(node.input(source), 1), size(node.input(source), 2)
    return (height == 1 or down in _STRIDES) and (width == 1 or (across >= 1 and _reduced(across, width) <= 3))


def _wide_stride(node: NodeView) -> str | None:
    across, down = strides(node)
    text = f"strides {across} (across) and {down} (down) on an input of shape {list(node.input(0).shape)}"
    return None if allows_wide_stride(node) else text


WIDE_STRIDES = upstream(
    "ConstraintStrideWidthNoUpperLimit",
    check(
        ATTRIBUTE,
        "strides of 1 to 3, or a horizontal stride that divides the width or is a multiple of 2 or 3",
        _wide_stride,
        "use strides of 1 to 3",
    ),
)


def _padded_stride(node: NodeView) -> str | None:
    across, _ = strides(node)
    met = allows_wide_stride(node) and (is_valid_padding(node) or across <= 3)
    return None if met else f"horizontal stride {across} with SAME padding"


UNPADDED_WIDE_STRIDES = upstream(
    "ConstraintStrideRangeNoPadding",
    check(ATTRIBUTE, "VALID padding, or a horizontal stride of at most 3", _padded_stride, "use strides of 1 to 3"),
)

LARGEST_DILATED_HEIGHT = 64


def _large_dilated_filter(node: NodeView) -> str | None:
    options, weights = node.options, node.input(1)
    across, down = (getattr(options, f"dilation_{side}_factor", 1) for side in "wh")
    if node.op == "TRANSPOSE_CONV":
        across = down = 1
    height, width = (size(weights, 1) - 1) * down + 1, (size(weights, 2) - 1) * across + 1
    met = 1 <= height <= LARGEST_DILATED_HEIGHT and 1 <= height * width <= LARGEST_DILATED_HEIGHT**2
    return None if met else f"a dilated filter of {height} * {width}"


DILATED_FILTER = upstream(
    "ConstraintDilatedRange",
    check(
        SHAPE,
        f"a dilated filter of height 1 to {LARGEST_DILATED_HEIGHT} with at most {LARGEST_DILATED_HEIGHT**2} elements",
        _large_dilated_filter,
        "use a smaller filter or less dilation",
    ),
)
