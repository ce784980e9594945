"""Operators that move elements or say where they are: shapes, slices, padding, gathering, resizing (``op_map.cc``).

Source: the mappers of these operators. What those of GATHER and GATHER_ND say of STRING, and those of SPACE_TO_DEPTH and
DEPTH_TO_SPACE of INT64, never comes up: no operator takes such operands. That a constant size of RESIZE_BILINEAR or
RESIZE_NEAREST_NEIGHBOR has data, which their mapper asks too, is always so.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Allocation
from .checks import (
    ATTRIBUTE,
    CONSTANT,
    DYNAMIC_SHAPE,
    HYBRID,
    RANK,
    SHAPE,
    TENSOR_TYPE,
    check,
    constant,
    constants,
    found_if,
    not_of_type,
    of_inputs,
    output_with_dimensions,
    quantized_8_bits,
    vx_rule,
    vx_rules,
)

_WITHOUT_DEMANDS = ("CONCATENATION", "GATHER", "GATHER_ND", "HASHTABLE_LOOKUP", "PACK", "SQUEEZE", "UNPACK")


def _computed_shape(node: NodeView) -> bool:
    return len(node.node.inputs) == 2 and not node.input(1).is_constant


_CONSTANT_SHAPE = check(
    CONSTANT,
    "a constant shape, if it is an operand",
    found_if(_computed_shape, "shape is not constant"),
    "fix the shapes before converting, so that the converter folds this operand",
)

_STRIDED_SLICE = (
    constants("begin, end and strides", 1, 2, 3),
    check(
        ATTRIBUTE,
        "new_axis_mask 0",
        found_if(lambda node: node.options.new_axis_mask != 0, "a new axis"),
        "add the dimension with EXPAND_DIMS",
    ),
    check(
        ATTRIBUTE,
        "ellipsis_mask 0",
        found_if(lambda node: node.options.ellipsis_mask != 0, "an ellipsis"),
        "write out all dimensions of the slice",
    ),
)


def _sliced_batch(node: NodeView) -> str | None:
    """Upstream reads past the shape of an output without dimensions, and was seen to refuse the node then."""
    source, result = node.input(0).shape, node.output(0).shape
    return f"input {list(source)} and output {list(result)}" if len(source) > 3 and source[:1] != result[:1] else None


_SLICE = (
    constants("begin and size", 1, 2),
    check(SHAPE, "the whole batch, if the input has more than three dimensions", _sliced_batch, "slice another dimension"),
)


def _unknown_mirror_mode(node: NodeView) -> bool:
    """The runtime knows the mode of no node without options."""
    return not node.options.table or node.options.mode not in (0, 1)


_MIRROR_PAD = (
    output_with_dimensions(),
    check(ATTRIBUTE, "mode REFLECT or SYMMETRIC", found_if(_unknown_mirror_mode, "an unknown mode")),
)


def _is_dynamic(node: NodeView) -> bool:
    """``kTfLiteDynamic``; in the file, only STRING, RESOURCE and VARIANT tensors are."""
    return node.output(0).allocation is Allocation.DYNAMIC


_SPLIT = (
    check(
        DYNAMIC_SHAPE,
        "an output in the arena",
        found_if(_is_dynamic, "an output that is allocated while running"),
        "convert with another type for this tensor",
    ),
    *of_inputs(quantized_8_bits()),
)

_RESIZE = (constant(1, "size"), *of_inputs(quantized_8_bits(), positions=slice(0, 1)))

_BLOCKS = of_inputs(not_of_type("INT32", hint="cast to float around the operator"), quantized_8_bits())

_RANK_4 = check(
    RANK,
    "an input of rank 4",
    lambda node: None if (rank := node.input(0).rank) == 4 else f"an input of rank {rank}",
    "add dimensions with RESHAPE",
)


def _spatial_dimensions(node: NodeView) -> str | None:
    """Upstream reads past the shape of a block shape without dimensions; it is hardly 2 there."""
    shape = node.input(1).shape
    return None if shape[:1] == (2,) else f"a block shape of shape {list(shape)}"


_TWO_BLOCKS = check(SHAPE, "two spatial dimensions", _spatial_dimensions, "move blocks of height and width only")


def _unknown_size(node: NodeView) -> str | None:
    shape = node.input(0).shape
    return f"an input of shape {list(shape)}" if min(shape, default=1) <= 0 else None


ARGUMENT_WITH_DIMENSIONS = check(
    DYNAMIC_SHAPE,
    "input and output with at least one dimension",
    found_if(lambda node: not (node.input(0).rank and node.output(0).rank), "an input or output without dimensions"),
    "give the result a dimension, by an input of one more",
)

_ONE_HOT = (
    constant(1, "depth"),
    check(TENSOR_TYPE, "an output that is not BOOL", found_if(lambda node: node.output(0).type == "BOOL", "a BOOL output")),
)


def _changes_sign(node: NodeView) -> bool:
    return node.input(1).type == "UINT8" and node.output(0).type == "INT8"


_EMBEDDING_LOOKUP = check(
    HYBRID,
    "other types than a UINT8 table with an INT8 output",
    found_if(_changes_sign, "a UINT8 table and an INT8 output"),
    "give table and output one type",
)

RULES = {
    **vx_rules(_WITHOUT_DEMANDS),
    **vx_rules(("ARG_MAX", "ARG_MIN"), ARGUMENT_WITH_DIMENSIONS),
    "BATCH_TO_SPACE_ND": vx_rule(_RANK_4, _TWO_BLOCKS, output_with_dimensions()),
    "BROADCAST_TO": vx_rule(int64_inputs=True),
    **vx_rules(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), *_BLOCKS),
    "EMBEDDING_LOOKUP": vx_rule(_EMBEDDING_LOOKUP),
    "EXPAND_DIMS": vx_rule(constant(1, "axis")),
    "MIRROR_PAD": vx_rule(*_MIRROR_PAD),
    "ONE_HOT": vx_rule(*_ONE_HOT),
    **vx_rules(("MEAN", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"), constant(1, "axis")),
    **vx_rules(("PAD", "TRANSPOSE"), output_with_dimensions()),
    "RESHAPE": vx_rule(_CONSTANT_SHAPE, output_with_dimensions()),
    **vx_rules(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), *_RESIZE),
    "REVERSE_V2": vx_rule(constant(1, "axis")),
    "SCATTER_ND": vx_rule(constant(2, "shape")),
    "SHAPE": vx_rule(check(SHAPE, "an input with positive sizes", _unknown_size)),
    "SLICE": vx_rule(*_SLICE),
    "SPACE_TO_BATCH_ND": vx_rule(_RANK_4, output_with_dimensions(), _TWO_BLOCKS),
    **vx_rules(("SPLIT", "SPLIT_V"), *_SPLIT),
    "STRIDED_SLICE": vx_rule(*_STRIDED_SLICE),
}
