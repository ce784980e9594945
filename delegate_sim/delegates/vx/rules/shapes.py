"""Operators that move elements: reductions, reshaping, slicing, joining, padding, gathering and filling.

Upstream's own INT64 checks of SPACE_TO_DEPTH and DEPTH_TO_SPACE are omitted, because ``vx_rule`` already refuses INT64 inputs.

Upstream's own STRING checks of GATHER and GATHER_ND are omitted, because ``vx_rule`` already refuses STRING inputs.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Allocation
from ....rules.kinds import ATTRIBUTE, CONSTANT, HYBRID, SHAPE, TENSOR_TYPE, in_code
from ....rules.operands import INPUT, operand
from ....rules.vocabulary import check, constant, constants, option, rank, refused_if
from .checks import AXIS, DYNAMIC_SHAPE, OUTPUT_WITH_DIMENSIONS, not_of_type, of_inputs, quantized_8_bits, vx_rule

ARGUMENT_WITH_DIMENSIONS = refused_if(
    DYNAMIC_SHAPE,
    "at least one dimension in input and output",
    lambda node: not (node.input(0).rank and node.output(0).rank),
    "an input or output without dimensions",
    "give the input one more dimension, so that the result has one",
)

_ARGUMENT = vx_rule("ArgOpMapper::IsOpSupported", ARGUMENT_WITH_DIMENSIONS)
_REDUCTION = vx_rule("ReduceOpMapper::IsOpSupported", constant(operand(1, "axis")))


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


def _is_dynamic(node: NodeView) -> bool:
    """Return whether the first result has a dynamic type (``kTfLiteDynamic``): STRING, RESOURCE or VARIANT."""
    return node.output(0).allocation is Allocation.DYNAMIC


_SPLIT = (
    refused_if(
        DYNAMIC_SHAPE,
        "an output that is not allocated at run time",
        _is_dynamic,
        "an output that is allocated at run time",
        "convert with another type for this tensor",
    ),
    *of_inputs(quantized_8_bits()),
)


def _unknown_mirror_mode(node: NodeView) -> bool:
    return not node.options.table or node.options.mode not in (0, 1)


_MIRROR_PAD = (
    OUTPUT_WITH_DIMENSIONS,
    refused_if(ATTRIBUTE, "mode REFLECT or SYMMETRIC", _unknown_mirror_mode, "an unknown mode"),
)


_EMBEDDING_LOOKUP = refused_if(
    HYBRID,
    "any types except a UINT8 table with an INT8 output",
    lambda node: node.input(1).type == "UINT8" and node.output(0).type == "INT8",
    "a UINT8 table and an INT8 output",
    in_code("give the table and the output the same type"),
)

_ONE_HOT = (
    constant(operand(1, "depth")),
    refused_if(TENSOR_TYPE, "an output that is not BOOL", lambda node: node.output(0).type == "BOOL", "a BOOL output"),
)

RULES = {
    "ARG_MAX": _ARGUMENT,
    "ARG_MIN": _ARGUMENT,
    "MEAN": _REDUCTION,
    "REDUCE_ANY": _REDUCTION,
    "REDUCE_MAX": _REDUCTION,
    "REDUCE_MIN": _REDUCTION,
    "REDUCE_PROD": _REDUCTION,
    "SUM": _REDUCTION,
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
    "REVERSE_V2": vx_rule("ReverseV2::IsOpSupported", AXIS),
    "SLICE": vx_rule("Slice::IsOpSupported", *_SLICE),
    "STRIDED_SLICE": vx_rule("StridedSliceMapper::IsOpSupported", *_STRIDED_SLICE),
    "CONCATENATION": vx_rule("ConcatenationMapper"),
    "PACK": vx_rule("PackMapper"),
    "SPLIT": vx_rule("SplitMapper::IsOpSupported", *_SPLIT),
    "SPLIT_V": vx_rule("SplitVMapper::IsOpSupported", *_SPLIT),
    "UNPACK": vx_rule("UnpackMapper"),
    "MIRROR_PAD": vx_rule("MirrorPadMapper::IsOpSupported", *_MIRROR_PAD),
    "PAD": vx_rule("PadMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    "EMBEDDING_LOOKUP": vx_rule("EmbeddingLookup::IsOpSupported", _EMBEDDING_LOOKUP),
    "GATHER": vx_rule("Gather::IsOpSupported"),
    "GATHER_ND": vx_rule("GatherNd::IsOpSupported"),
    "HASHTABLE_LOOKUP": vx_rule("HashtableLookup"),
    "SCATTER_ND": vx_rule("ScatterNDMapper::IsOpSupported", constant(operand(2, "shape"))),
    "BROADCAST_TO": vx_rule("BroadcastToMapper", int64_inputs=True),
    "ONE_HOT": vx_rule("OneHotMapper::IsOpSupported", *_ONE_HOT),
}
