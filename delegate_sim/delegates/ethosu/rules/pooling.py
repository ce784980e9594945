"""Pooling windows."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE
from ....rules.vocabulary import check
from .checks import FUSED, SAME_TYPE, ethosu_rule, upstream
from .windows import STRIDES, UNPADDED_WIDE_STRIDES, WIDE_STRIDES, is_valid_padding

_LARGEST_HEIGHT = 256
_LARGEST_PRODUCT = 256 * 256
_PADDED_SIZES = range(1, 9)


def _window(node: NodeView) -> str:
    return f"a window of {node.options.filter_height} * {node.options.filter_width}"


def _is_tall(node: NodeView) -> bool:
    return not 1 <= node.options.filter_height <= _LARGEST_HEIGHT


def _is_large(node: NodeView) -> bool:
    return not 1 <= node.options.filter_height * node.options.filter_width <= _LARGEST_PRODUCT


def _large_average_window(node: NodeView) -> str | None:
    options = node.options
    if is_valid_padding(node):
        return _window(node) if _is_large(node) or _is_tall(node) else None
    wide = options.filter_width not in _PADDED_SIZES and options.stride_w != options.filter_width
    return f"{_window(node)} with SAME padding" if wide or options.filter_height not in _PADDED_SIZES else None


_SMALLER = "use a smaller window, or several consecutive poolings"
_AVERAGE_WINDOW = upstream(
    "ConstraintFilterRangeValidPad",
    check(
        ATTRIBUTE,
        f"a window of at most 8 * 8 with SAME padding; with VALID padding, at most {_LARGEST_HEIGHT} high and at most "
        f"{_LARGEST_PRODUCT:,} elements",
        _large_average_window,
        _SMALLER,
    ),
)
_MAXIMUM_WINDOW = (
    *upstream(
        "ConstraintFilterHeightRange",
        check(
            ATTRIBUTE,
            f"a window of height 1 to {_LARGEST_HEIGHT}",
            lambda node: _window(node) if _is_tall(node) else None,
            _SMALLER,
        ),
    ),
    *upstream(
        "ConstraintFilterProductRange",
        check(
            ATTRIBUTE,
            f"a window of at most {_LARGEST_PRODUCT:,} elements",
            lambda node: _window(node) if _is_large(node) else None,
            _SMALLER,
        ),
    ),
)


RULES = {
    "AVERAGE_POOL_2D": ethosu_rule(*SAME_TYPE, *FUSED, *WIDE_STRIDES, *UNPADDED_WIDE_STRIDES, *_AVERAGE_WINDOW),
    "MAX_POOL_2D": ethosu_rule(*SAME_TYPE, *FUSED, *STRIDES, *_MAXIMUM_WINDOW),
}
