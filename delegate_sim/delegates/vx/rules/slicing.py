"""Operators that read, write or reverse slices."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import SHAPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constants, option
from .checks import AXIS, vx_rule

_STRIDED_SLICE = (
    constants(operand(1, "begin"), operand(2, "end"), operand(3, "strides")),
    option("new_axis_mask", 0, hint="add the dimension with EXPAND_DIMS"),
    option("ellipsis_mask", 0, hint="write out all dimensions of the slice"),
)


def _sliced_batch(node: NodeView) -> str | None:
    """Return the shapes if the batch is sliced.

    If the output has no dimensions, upstream reads past the end of the output's shape. In real runs, the delegate refused such
    nodes.
    """
    source, result = node.input(0).shape, node.output(0).shape
    return f"input {list(source)} and output {list(result)}" if len(source) > 3 and source[:1] != result[:1] else None


_SLICE = (
    constants(operand(1, "begin"), operand(2, "size")),
    check(SHAPE, "the whole batch, if the input has more than three dimensions", _sliced_batch, "slice another dimension"),
)

RULES = {
    "REVERSE_V2": vx_rule("ReverseV2::IsOpSupported", AXIS),
    "SLICE": vx_rule("Slice::IsOpSupported", *_SLICE),
    "STRIDED_SLICE": vx_rule("StridedSliceMapper::IsOpSupported", *_STRIDED_SLICE),
}
