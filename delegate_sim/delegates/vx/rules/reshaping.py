"""Reshaping, transposing, and moving blocks between dimensions.

Upstream's own INT64 checks of SPACE_TO_DEPTH and DEPTH_TO_SPACE are omitted, because ``vx_rule`` already refuses INT64 inputs.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import in_code
from ....rules.kinds import CONSTANT, SHAPE
from ....rules.operands import INPUT
from ....rules.vocabulary import check, rank, refused_if
from .checks import AXIS, OUTPUT_WITH_DIMENSIONS, not_of_type, of_inputs, quantized_8_bits, vx_rule


def _computed_shape(node: NodeView) -> bool:
    return len(node.node.inputs) == 2 and not node.input(1).is_constant


_CONSTANT_SHAPE = refused_if(CONSTANT, "a constant shape if the shape is an operand", _computed_shape, "shape is not constant")

_BLOCKS = of_inputs(not_of_type("INT32", hint=in_code("cast to float around the operator")), quantized_8_bits())
_RANK_4 = rank(INPUT, 4)


def _spatial_dimensions(node: NodeView) -> str | None:
    """Return the shape of the tensor with the block sizes, or None if this tensor has two elements.

    Upstream reads past the end of a shape without dimensions.
    """
    shape = node.input(1).shape
    return None if shape[:1] == (2,) else f"a block shape of shape {list(shape)}"


_TWO_BLOCKS = check(SHAPE, "two spatial dimensions", _spatial_dimensions, "use block sizes for height and width only")


def _unknown_size(node: NodeView) -> str | None:
    shape = node.input(0).shape
    return f"an input of shape {list(shape)}" if min(shape, default=1) <= 0 else None


RULES = {
    "BATCH_TO_SPACE_ND": vx_rule("Batch2Space::IsOpSupported", _RANK_4, _TWO_BLOCKS, OUTPUT_WITH_DIMENSIONS),
    "DEPTH_TO_SPACE": vx_rule("Depth2SpaceMapper::IsOpSupported", *_BLOCKS),
    "EXPAND_DIMS": vx_rule("ExpandDimsMapper::IsOpSupported", AXIS),
    "RESHAPE": vx_rule("ReshapeMapper::IsOpSupported", _CONSTANT_SHAPE, OUTPUT_WITH_DIMENSIONS),
    "SHAPE": vx_rule(
        "ShapeMapper::IsOpSupported",
        check(SHAPE, "an input with positive sizes", _unknown_size, "fix the shapes before converting"),
    ),
    "SPACE_TO_BATCH_ND": vx_rule("Space2Batch::IsOpSupported", _RANK_4, OUTPUT_WITH_DIMENSIONS, _TWO_BLOCKS),
    "SPACE_TO_DEPTH": vx_rule("Space2DepthMapper::IsOpSupported", *_BLOCKS),
    "SQUEEZE": vx_rule("SqueezeMapper"),
    "TRANSPOSE": vx_rule("Transpose::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
}
