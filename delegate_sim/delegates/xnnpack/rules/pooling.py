"""Pooling and resizing of images.

Source: ``VisitAveragePool2DNode``, ``VisitMaxPool2DNode`` and ``VisitResizeBilinearNode``
(``delegates/xnnpack/xnnpack_delegate.cc``).

A node that these rules accept can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_VALUE
from ....rules.operands import OUTPUT, operand
from ....rules.vocabulary import check
from .checks import BOUNDING_ACTIVATION, INPUT, PADDING, integers, operands, positive, shaped, stored, vector, xnnpack_rule
from .types import FLOAT, FLOAT16_LAYERS, FLOAT32_OR_8_BITS, FLOAT_OR_8_BITS_LAYERS, of_types
from .upstream import method

_FLOAT = FLOAT.with_float16_from(FLOAT16_LAYERS)


def _strides_over_filter(node: NodeView) -> str | None:
    options = node.options
    if options.stride_w <= options.filter_width and options.stride_h <= options.filter_height:
        return None
    return f"strides {options.stride_h}x{options.stride_w} over filter {options.filter_height}x{options.filter_width}"


_POOLING = (
    positive("CheckPoolingParams", "stride_w", "stride_h"),
    positive("CheckPoolingParams", "filter_width", "filter_height"),
    check(ATTRIBUTE, "strides no larger than the filter", _strides_over_filter).from_source(method("CheckPoolingParams")),
    PADDING,
    BOUNDING_ACTIVATION,
)


def _empty_first_size(node: NodeView) -> str | None:
    """Return the new height if this height is below 1; the delegate does not check the width."""
    value = node.value(node.input(1))
    return f"new height {value[0]}" if value is not None and len(value) and value[0] <= 0 else None


_NEW_SIZE = operand(1, "new size")

RULES = {
    "AVERAGE_POOL_2D": xnnpack_rule(
        "VisitAveragePool2DNode", operands(1), *of_types(INPUT, _FLOAT), *of_types(OUTPUT, _FLOAT), *_POOLING
    ),
    "MAX_POOL_2D": xnnpack_rule(
        "VisitMaxPool2DNode",
        operands(1),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *_POOLING,
    ),
    "RESIZE_BILINEAR": xnnpack_rule(
        "VisitResizeBilinearNode",
        operands(2),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *shaped(INPUT, 4),
        integers(_NEW_SIZE, "INT32"),
        vector(_NEW_SIZE),
        stored(_NEW_SIZE),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(OUTPUT, 4),
        check(OPERAND_VALUE, "a new height of at least 1", _empty_first_size),
    ),
}
