"""Pooling.

Source: ``VisitAveragePool2DNode`` and ``VisitMaxPool2DNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE
from ....rules.operands import OUTPUT
from ....rules.vocabulary import check
from .checks import BOUNDING_ACTIVATION, INPUT, PADDING, operands, positive, xnnpack_rule
from .types import FLOAT, FLOAT16_LAYERS, FLOAT32_OR_8_BITS, FLOAT_OR_8_BITS_LAYERS, of_types
from .upstream import method

_FLOAT = FLOAT.with_float16_from(FLOAT16_LAYERS)


def _strides_over_filter(node: NodeView) -> str | None:
    options = node.options
    if options.stride_w <= options.filter_width and options.stride_h <= options.filter_height:
        return None
    return f"strides {options.stride_h}x{options.stride_w} and filter {options.filter_height}x{options.filter_width}"


_POOLING = (
    positive("CheckPoolingParams", "stride_w", "stride_h"),
    positive("CheckPoolingParams", "filter_width", "filter_height"),
    check(ATTRIBUTE, "strides no larger than the filter", _strides_over_filter).from_source(method("CheckPoolingParams")),
    PADDING,
    BOUNDING_ACTIVATION,
)

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
}
