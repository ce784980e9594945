"""Operators that move elements or say where they are: shapes, slices, padding, gathering.

What the mappers of GATHER and GATHER_ND say of STRING, and those of SPACE_TO_DEPTH and DEPTH_TO_SPACE of INT64, never comes up:
no operator takes such operands.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Allocation
from ....rules.kinds import ATTRIBUTE, CONSTANT, HYBRID, SHAPE, TENSOR_TYPE
from ....rules.operands import INPUT, operand
from ....rules.vocabulary import check, constant, constants, option, rank, refused_if
from ..kinds import DYNAMIC_SHAPE
from .checks import OUTPUT_WITH_DIMENSIONS, not_of_type, of_inputs, quantized_8_bits, vx_rule


def _computed_shape(node: NodeView) -> bool:
    return len(node.node.inputs) == 2 and not node.input(1).is_constant


_CONSTANT_SHAPE = refused_if(CONSTANT, "a constant shape, if it is an operand", _computed_shape, "shape is not constant")

_STRIDED_SLICE = (
    constants(operand(1, "begin"), operand(2, "end"), operand(3, "strides")),
    option("new_axis_mask", 0, hint="add the dimension with EXPAND_DIMS"),
    option("ellipsis_mask", 0, hint="write out all dimensions of the slice"),
)


def _sliced_batch(node: NodeView) -> str | None:
    """Upstream reads past the shape of an output without dimensions, and was seen to refuse the node then."""
    source, result = node.input(0).shape, node.output(0).shape
    return f"input {list(source)} and output {list(result)}" if len(source) > 3 and source[:1] != result[:1] else None


_SLICE = (
    constants(operand(1, "begin"), operand(2, "size")),
    check(SHAPE, "the whole batch, if the input has more than three dimensions", _sliced_batch, "slice another dimension"),
)


def _unknown_mirror_mode(node: NodeView) -> bool:
    """The runtime knows the mode of no node without options."""
    return not node.options.table or node.options.mode not in (0, 1)


_MIRROR_PAD = (
    OUTPUT_WITH_DIMENSIONS,
    refused_if(ATTRIBUTE, "mode REFLECT or SYMMETRIC", _unknown_mirror_mode, "an unknown mode"),
)


def _is_dynamic(node: NodeView) -> bool:
    """``kTfLiteDynamic``; in the file, only STRING, RESOURCE and VARIANT tensors are."""
    return node.output(0).allocation is Allocation.DYNAMIC


_SPLIT = (
    refused_if(
        DYNAMIC_SHAPE,
        "an output in the arena",
        _is_dynamic,
        "an output that is allocated at run time",
        "convert with another type for this tensor",
    ),
    *of_inputs(quantized_8_bits()),
)

_BLOCKS = of_inputs(not_of_type("INT32", hint="cast to float around the operator"), quantized_8_bits())
_RANK_4 = rank(INPUT, 4)


def _spatial_dimensions(node: NodeView) -> str | None:
    """Upstream reads past the shape of a block shape without dimensions; it is hardly 2 there."""
    shape = node.input(1).shape
    return None if shape[:1] == (2,) else f"a block shape of shape {list(shape)}"


_TWO_BLOCKS = check(SHAPE, "two spatial dimensions", _spatial_dimensions, "use blocks of height and width only")


def _unknown_size(node: NodeView) -> str | None:
    shape = node.input(0).shape
    return f"an input of shape {list(shape)}" if min(shape, default=1) <= 0 else None


_ONE_HOT = (
    constant(operand(1, "depth")),
    refused_if(TENSOR_TYPE, "an output that is not BOOL", lambda node: node.output(0).type == "BOOL", "a BOOL output"),
)


def _changes_sign(node: NodeView) -> bool:
    return node.input(1).type == "UINT8" and node.output(0).type == "INT8"


_EMBEDDING_LOOKUP = refused_if(
    HYBRID,
    "other types than a UINT8 table with an INT8 output",
    _changes_sign,
    "a UINT8 table and an INT8 output",
    "give table and output one type",
)

_AXIS = constant(operand(1, "axis"))

RULES = {
    "BATCH_TO_SPACE_ND": vx_rule("Batch2Space::IsOpSupported", _RANK_4, _TWO_BLOCKS, OUTPUT_WITH_DIMENSIONS),
    "BROADCAST_TO": vx_rule("BroadcastToMapper", int64_inputs=True),
    "CONCATENATION": vx_rule("ConcatenationMapper"),
    "DEPTH_TO_SPACE": vx_rule("Depth2SpaceMapper::IsOpSupported", *_BLOCKS),
    "EMBEDDING_LOOKUP": vx_rule("EmbeddingLookup::IsOpSupported", _EMBEDDING_LOOKUP),
    "EXPAND_DIMS": vx_rule("ExpandDimsMapper::IsOpSupported", _AXIS),
    "GATHER": vx_rule("Gather::IsOpSupported"),
    "GATHER_ND": vx_rule("GatherNd::IsOpSupported"),
    "HASHTABLE_LOOKUP": vx_rule("HashtableLookup"),
    "MIRROR_PAD": vx_rule("MirrorPadMapper::IsOpSupported", *_MIRROR_PAD),
    "ONE_HOT": vx_rule("OneHotMapper::IsOpSupported", *_ONE_HOT),
    "PACK": vx_rule("PackMapper"),
    "PAD": vx_rule("PadMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    "RESHAPE": vx_rule("ReshapeMapper::IsOpSupported", _CONSTANT_SHAPE, OUTPUT_WITH_DIMENSIONS),
    "REVERSE_V2": vx_rule("ReverseV2::IsOpSupported", _AXIS),
    "SCATTER_ND": vx_rule("ScatterNDMapper::IsOpSupported", constant(operand(2, "shape"))),
    "SHAPE": vx_rule(
        "ShapeMapper::IsOpSupported",
        check(SHAPE, "an input with positive sizes", _unknown_size, "fix the shapes before converting"),
    ),
    "SLICE": vx_rule("Slice::IsOpSupported", *_SLICE),
    "SPACE_TO_BATCH_ND": vx_rule("Space2Batch::IsOpSupported", _RANK_4, OUTPUT_WITH_DIMENSIONS, _TWO_BLOCKS),
    "SPACE_TO_DEPTH": vx_rule("Space2DepthMapper::IsOpSupported", *_BLOCKS),
    "SPLIT": vx_rule("SplitMapper::IsOpSupported", *_SPLIT),
    "SPLIT_V": vx_rule("SplitVMapper::IsOpSupported", *_SPLIT),
    "SQUEEZE": vx_rule("SqueezeMapper"),
    "STRIDED_SLICE": vx_rule("StridedSliceMapper::IsOpSupported", *_STRIDED_SLICE),
    "TRANSPOSE": vx_rule("Transpose::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    "UNPACK": vx_rule("UnpackMapper"),
}
