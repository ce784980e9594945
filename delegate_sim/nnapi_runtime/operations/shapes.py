"""Joining, padding, resizing, slicing, reshaping, gathering and filling, also with random numbers."""

from __future__ import annotations

from ..operands import FALSE, OptionalInputs
from ..refusal import OperandPart
from ..types import OperandType
from .signature import OperationView, check_equal_rank, equal_quantization, max_rank, operation, zero_point_level

_T = OperandType


def _pack_rank(view: OperationView) -> None:
    needed = max(view.outputs[0].rank - 1, 0)
    for index, operand in enumerate(view.inputs[1:], 1):
        if operand.rank and needed and operand.rank != needed:
            view.refuse("operation-pack-rank", OperandPart("input", index, "rank"), operand.rank, needed)
        needed = needed or operand.rank


def _concatenation_level(view: OperationView) -> int:
    """Return the feature level that the quantization of the inputs needs.

    Below level 3, quantized inputs must have the scale and zero point of the output.
    """
    if view.inputs[0].type != _T.TENSOR_QUANT8_ASYMM:
        return 1
    output = view.outputs[0]
    are_equal = all((one.scale, one.zero_point) == (output.scale, output.zero_point) for one in view.inputs[:-1])
    return 1 if are_equal else 3


def _mirror_pad_shape(view: OperationView) -> None:
    rank, paddings = view.inputs[0].rank, view.inputs[1].dimensions
    if paddings and (len(paddings) != 2 or paddings[1] not in {0, 2} or (rank and paddings[0] not in {0, rank})):
        is_pairs = len(paddings) == 2 and paddings[1] in {0, 2}
        needed = f"[{rank}, 2]" if is_pairs else "[rank of input 0, 2]"
        view.refuse("operation-mirror-pad-shape", OperandPart("input", 1, "dimensions"), list(paddings), needed)
    check_equal_rank(view, "operation-mirror-pad-shape")


def _resize_sizes(view: OperationView) -> int:
    width, height = view.inputs[1].type, view.inputs[2].type
    if width != height:
        part, needed = OperandPart("input", 1, "type"), f"the type of input 2, {_T(height)!s}"
        view.refuse("operation-resize-sizes", part, _T(width), needed)
    return 1 if height == _T.INT32 else 3


def _reverse_shape(view: OperationView) -> None:
    axis = view.inputs[1].dimensions
    if axis and (len(axis) != 1 or axis[0] not in {0, 1}):
        view.refuse("operation-reverse-shape", OperandPart("input", 1, "dimensions"), list(axis), "[1]")
    check_equal_rank(view, "operation-reverse-shape")


def _embedding_level(view: OperationView) -> int:
    """Return the feature level that the type of the lookup table needs. On Android 10, no type raises the level."""
    is_newer = view.inputs[1].type in {_T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM} and view.android >= 11
    return 3 if is_newer else 1


_RESIZE = "SAME SIZE_OR_SCALE SIZE_OR_SCALE"
_RESIZE_FORMS = (f"{_RESIZE} BOOL @3", f"{_RESIZE} BOOL BOOL @4", f"{_RESIZE} BOOL BOOL BOOL @4")

RULES = (
    operation("SPLIT", "Split.cpp: split::validate", "REAL@3 INT32@3", "SAME INT32 INT32", outputs=("SAME+",)),
    operation(
        "CONCATENATION",
        "Concatenation.cpp: concatenation::validate",
        "REAL@1",
        "SAME+ INT32",
        checks=(lambda view: max_rank(view, *range(len(view.inputs) - 1)), _concatenation_level),
    ),
    operation(
        "PACK",
        "Pack.cpp: pack_op::validate",
        "REAL@6 INT32@6",
        "INT32 SAME+",
        decider=("output", 0),
        checks=(lambda view: equal_quantization(view, *range(1, len(view.inputs))), _pack_rank),
    ),
    operation("PAD", "Reshape.cpp: reshape::validatePad", "REAL@2", "SAME TENSOR_INT32", checks=(max_rank, zero_point_level)),
    operation("PAD_V2", "Reshape.cpp: reshape::validatePadV2", "REAL@3", "SAME TENSOR_INT32 PAD_VALUE", checks=(max_rank,)),
    operation(
        "MIRROR_PAD",
        "MirrorPad.cpp: mirror_pad_op::validate",
        "REAL@7 INT32@7",
        "SAME TENSOR_INT32 INT32",
        checks=(equal_quantization, _mirror_pad_shape),
    ),
    operation(
        "RESIZE_BILINEAR",
        "ResizeImageOps.cpp: resize_image::validate",
        "FLOAT@1 QUANT8@3",
        _RESIZE,
        *_RESIZE_FORMS,
        checks=(_resize_sizes,),
        optional=(OptionalInputs(3, (FALSE, FALSE, FALSE)),),
    ),
    operation(
        "RESIZE_NEAREST_NEIGHBOR",
        "ResizeImageOps.cpp: resize_image::validate",
        "REAL@3",
        *_RESIZE_FORMS,
        checks=(_resize_sizes,),
        optional=(OptionalInputs(4, (FALSE, FALSE)),),
    ),
    operation(
        "STRIDED_SLICE", "StridedSlice.cpp: strided_slice::validate", "REAL@2", "SAME TENSOR_INT32*3 INT32*3", checks=(max_rank,)
    ),
    operation("SLICE", "Slice.cpp: slice::validate", "REAL@3 INT32@3", "SAME TENSOR_INT32 TENSOR_INT32"),
    operation(
        "REVERSE",
        "Reverse.cpp: reverse_op::validate",
        "REAL@7 INT32@7",
        "SAME TENSOR_INT32",
        checks=(equal_quantization, _reverse_shape),
    ),
    operation("RESHAPE", "Reshape.cpp: reshape::validateReshape", "REAL@1 INT32@6", "SAME TENSOR_INT32", checks=(max_rank,)),
    operation("SQUEEZE", "Squeeze.cpp: squeeze::validate", "REAL@2", "SAME TENSOR_INT32", checks=(max_rank,)),
    operation("TRANSPOSE", "Transpose.cpp: transpose::validate", "REAL@2", "SAME TENSOR_INT32", checks=(max_rank,)),
    operation("EXPAND_DIMS", "ExpandDims.cpp: expand_dims::validate", "REAL@3 INT32@3", "SAME INT32"),
    operation(
        "DEPTH_TO_SPACE",
        "Reshape.cpp: reshape::validateDepthToSpace",
        "REAL@1",
        "SAME INT32",
        "SAME INT32 BOOL @3",
        optional=(OptionalInputs(2, (FALSE,)),),
    ),
    operation(
        "SPACE_TO_DEPTH",
        "Reshape.cpp: reshape::validateSpaceToDepth",
        "REAL@1",
        "SAME INT32",
        "SAME INT32 BOOL @3",
        optional=(OptionalInputs(2, (FALSE,)),),
    ),
    operation(
        "BATCH_TO_SPACE_ND",
        "Reshape.cpp: reshape::validateBatchToSpaceND",
        "REAL@2",
        "SAME TENSOR_INT32",
        "SAME TENSOR_INT32 BOOL @3",
        optional=(OptionalInputs(2, (FALSE,)),),
    ),
    operation(
        "SPACE_TO_BATCH_ND",
        "Reshape.cpp: reshape::validateSpaceToBatchND",
        "REAL@2",
        "SAME TENSOR_INT32 TENSOR_INT32",
        "SAME TENSOR_INT32 TENSOR_INT32 BOOL @3",
        checks=(zero_point_level,),
        optional=(OptionalInputs(3, (FALSE,)),),
    ),
    operation(
        "CHANNEL_SHUFFLE", "ChannelShuffle.cpp: channel_shuffle::validate", "REAL@3", "SAME INT32 INT32", checks=(max_rank,)
    ),
    operation(
        "RANK",
        "Rank.cpp: rank_op::validate",
        "REAL@4 INT32@4 QUANT16_SYMM@4 BOOL8@4 QUANT8_SYMM_PER_CHANNEL@4 QUANT16_ASYMM@4 QUANT8_SYMM@4",
        "SAME",
        outputs=("INT32",),
    ),
    operation("GATHER", "Gather.cpp: gather::validate", "REAL@3 INT32@3", "SAME INT32 TENSOR_INT32"),
    operation("TOPK_V2", "TopK_V2.cpp: topk_v2::validate", "REAL@3 INT32@3", "SAME INT32", outputs=("SAME TENSOR_INT32",)),
    operation(
        "EMBEDDING_LOOKUP",
        "EmbeddingLookup.cpp: embedding_lookup::validate",
        "FLOAT32@1 FLOAT16@4 QUANT8@1 INT32@1",
        "TENSOR_INT32 SAME",
        decider=("input", 1),
        checks=(_embedding_level,),
    ),
    operation(
        "HASHTABLE_LOOKUP",
        "HashtableLookup.cpp: hashtable_lookup::validate",
        "FLOAT32@1 INT32@1 QUANT8_ASYMM@1",
        "TENSOR_INT32 TENSOR_INT32 SAME",
        outputs=("SAME TENSOR_QUANT8_ASYMM",),
        decider=("input", 2),
    ),
    operation(
        "LSH_PROJECTION",
        "LSHProjection.cpp: lsh_projection::validate",
        "FLOAT@1",
        "SAME TENSOR_FLOAT16|TENSOR_FLOAT32|TENSOR_INT32|TENSOR_QUANT8_ASYMM SAME INT32",
        outputs=("TENSOR_INT32",),
    ),
    operation("FILL", "Fill.cpp: fill_op::validate", "FLOAT@4 INT32@4", "TENSOR_INT32 SCALAR", decider=("output", 0)),
    operation("TILE", "Tile.cpp: tile::validate", "REAL@3 INT32@3", "SAME TENSOR_INT32"),
    operation(
        "RANDOM_MULTINOMIAL",
        "Multinomial.cpp: multinomial::validate",
        "FLOAT@3",
        "SAME INT32 TENSOR_INT32",
        outputs=("TENSOR_INT32",),
    ),
)
