"""ARG_MAX and MEAN."""

from __future__ import annotations

import math

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE, SHAPE
from ....rules.operands import OUTPUT, operand
from ....rules.vocabulary import check, typed
from .checks import EIGHT_BITS, ethosu_rule, int32_values, reads, size, upstream

_AXIS = operand(1, "axis")
_DEEPEST_MAXIMUM = 127
_LONGEST_MEAN = 64 * 64
_MOST_ELEMENTS = {"INT16": 1 << 16, "UINT8": 1 << 23}
_MOST_ELEMENTS_INT8 = 1 << 24


def _other_axis(node: NodeView) -> str | None:
    axis = next(iter(int32_values(node, _AXIS)), 0)
    return None if axis in (node.input(0).rank - 1, -1) else f"axis {axis} of {node.input(0).rank} dimensions"


def _deep(node: NodeView) -> str | None:
    depth = size(node.input(0), -1)
    return None if depth <= _DEEPEST_MAXIMUM else f"{depth} channels"


_ARG_MAX = upstream(
    "ConstraintArgmax",
    reads(_AXIS),
    check(OPERAND_VALUE, "the last axis", _other_axis, "transpose, so that the axis is the last one"),
    check(SHAPE, f"at most {_DEEPEST_MAXIMUM} channels", _deep, "leave ARG_MAX to the CPU at the end of the model"),
    typed(OUTPUT, ("INT32", "INT64")),
)


def _reduced(node: NodeView) -> list[int]:
    return int32_values(node, _AXIS)


def _other_axes(node: NodeView) -> str | None:
    shape = node.input(0).shape
    for axis in _reduced(node):
        if not 0 <= axis < len(shape):
            return f"axis {axis} of {len(shape)} dimensions"
        is_batch = len(shape) == 4 and axis == 0 and shape[0] != 1
        is_depth = len(shape) >= 3 and axis == len(shape) - 1 and 1 not in shape[-3:]
        if is_batch or is_depth:
            return f"axis {axis} of shape {list(shape)}"
    return None


def _many(node: NodeView) -> str | None:
    source = node.input(0)
    # bounded: the reader limits shapes
    count = math.prod(size(source, axis) for axis in _reduced(node))
    return None if count <= _MOST_ELEMENTS.get(source.type, _MOST_ELEMENTS_INT8) else f"{count:,} elements"


def _wide(node: NodeView) -> str | None:
    source = node.input(0)
    width = size(source, 1 if source.rank < 4 else 2)
    return None if width <= _LONGEST_MEAN else f"width {width:,}"


def _deep_mean(node: NodeView) -> str | None:
    source = node.input(0)
    depth = size(source, -1)
    return f"{depth:,} channels" if source.rank - 1 in _reduced(node) and depth > _LONGEST_MEAN else None


_MEAN = (
    *upstream(
        "ConstraintMeanAxisValue",
        reads(_AXIS),
        check(
            OPERAND_VALUE,
            "axes of 0 or more; the batch only if its size is 1, and channels only if height, width or channels have size 1",
            _other_axes,
            "average over height and width, with axes counted from the front",
        ),
    ),
    *upstream(
        "ConstraintMeanProduct",
        check(
            SHAPE,
            f"at most {_MOST_ELEMENTS_INT8:,} elements to average (UINT8: {_MOST_ELEMENTS['UINT8']:,}, INT16: "
            f"{_MOST_ELEMENTS['INT16']:,})",
            _many,
            "average in two steps",
        ),
    ),
    *upstream("ConstraintMeanWidth", check(SHAPE, f"a width of at most {_LONGEST_MEAN:,}", _wide, "use a smaller image")),
    *upstream(
        "ConstraintMeanDepth",
        check(SHAPE, f"at most {_LONGEST_MEAN:,} channels if the node averages channels", _deep_mean, "average in two steps"),
    ),
)

RULES = {
    "ARG_MAX": ethosu_rule(*EIGHT_BITS, *_ARG_MAX, scalar_inputs=True, int32=True, all_types=True, unquantized=True),
    "MEAN": ethosu_rule(*_MEAN, scalar_inputs=True),
}
