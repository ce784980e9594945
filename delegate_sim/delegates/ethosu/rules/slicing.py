"""Slices of a tensor."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import by_reshape
from ....rules.kinds import ATTRIBUTE, OPERAND_VALUE, SHAPE
from ....rules.number_sets import exactly
from ....rules.operands import operand
from ....rules.vocabulary import check, constant, operand_count, option, unset
from .checks import ethosu_rule, int32_values, upstream

_STRIDES = operand(3, "strides")


def _both_masks(node: NodeView) -> str | None:
    options = node.options
    return "new_axis_mask and shrink_axis_mask" if options.new_axis_mask and options.shrink_axis_mask else None


def _no_elements(node: NodeView) -> str | None:
    """Return the shape if a dimension of the input is not positive.

    Upstream intends to compare begin and end. By mistake, it compares 0 with the size of the dimension.
    """
    shape = node.input(0).shape
    return f"input of shape {list(shape)}" if any(size <= 0 for size in shape) else None


def _other_stride(node: NodeView) -> str | None:
    values = int32_values(node, _STRIDES)
    return None if all(value == 1 for value in values) else f"strides {values}"


_STRIDED = upstream(
    "ConstraintStridedSliceValues",
    operand_count(inputs=exactly(4)),
    constant(operand(1, "begin")),
    constant(operand(2, "end")),
    constant(_STRIDES),
    unset("offset"),
    option("ellipsis_mask", 0, hint="slice without an ellipsis"),
    check(
        ATTRIBUTE,
        "at most one of new_axis_mask and shrink_axis_mask",
        _both_masks,
        by_reshape("add and remove dimensions with RESHAPE"),
    ),
    check(SHAPE, "an input without a dimension of size 0", _no_elements),
    check(OPERAND_VALUE, "strides of 1", _other_stride, "slice with strides of 1"),
)
_SLICE = upstream("ConstraintSliceInputsConst", constant(operand(1, "begin")), constant(operand(2, "size")))

RULES = {
    "SLICE": ethosu_rule(*_SLICE, batches=True),
    "STRIDED_SLICE": ethosu_rule(*_STRIDED, batches=True),
}
