"""Joining, padding, resizing, slicing, reshaping, gathering and filling, also with random numbers."""

from __future__ import annotations

from collections.abc import Collection

from ..operands import FALSE, OptionalInputs
from ..refusal import OperandPart
from ..types import OperandType, OperationType
from .signature import (
    BOOL,
    FLOAT_1,
    FLOAT_3,
    INT32,
    NUMBER_3,
    NUMBER_7,
    QUANT8_3,
    REAL_1,
    REAL_2,
    REAL_3,
    SAME,
    SCALAR,
    TENSOR_INT32,
    Form,
    OperationRule,
    OperationView,
    by_type,
    check_equal_rank,
    equal_quantization,
    form,
    levels,
    max_rank,
    one_of,
    operation,
    zero_point_level,
)

_T = OperandType
_O = OperationType


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


_PAD_VALUE = by_type({_T.TENSOR_FLOAT16: _T.FLOAT16, _T.TENSOR_FLOAT32: _T.FLOAT32}, _T.INT32)


def _resize_sizes(view: OperationView) -> int:
    width, height = view.inputs[1].type, view.inputs[2].type
    if width != height:
        part, needed = OperandPart("input", 1, "type"), f"the type of input 2, {_T(height)!s}"
        view.refuse("operation-resize-sizes", part, _T(width), needed)
    return 1 if height == _T.INT32 else 3


def _size_or_scale(decider: int) -> Collection[int]:
    return _T.INT32, _T.FLOAT16 if decider == _T.TENSOR_FLOAT16 else _T.FLOAT32


_RESIZE = (SAME, _size_or_scale, _size_or_scale)


def _resize(table: dict[int, int], optional: OptionalInputs, *forms: Form) -> OperationRule:
    return operation(
        "ResizeImageOps.cpp: resize_image::validate",
        table,
        *forms,
        form(*_RESIZE, BOOL, level=3),
        form(*_RESIZE, BOOL, BOOL, level=4),
        form(*_RESIZE, BOOL, BOOL, BOOL, level=4),
        optional=(optional,),
        checks=(_resize_sizes,),
    )


def _reverse_shape(view: OperationView) -> None:
    axis = view.inputs[1].dimensions
    if axis and (len(axis) != 1 or axis[0] not in {0, 1}):
        view.refuse("operation-reverse-shape", OperandPart("input", 1, "dimensions"), list(axis), "[1]")
    check_equal_rank(view, "operation-reverse-shape")


def _block(function: str) -> OperationRule:
    forms = (form(SAME, INT32), form(SAME, INT32, BOOL, level=3))
    return operation(f"Reshape.cpp: reshape::{function}", REAL_1, *forms, optional=(OptionalInputs(2, (FALSE,)),))


_RANK_TYPES = (
    *NUMBER_3,
    _T.TENSOR_QUANT16_SYMM,
    _T.TENSOR_BOOL8,
    _T.TENSOR_QUANT8_SYMM_PER_CHANNEL,
    _T.TENSOR_QUANT16_ASYMM,
    _T.TENSOR_QUANT8_SYMM,
)


def _embedding_level(view: OperationView) -> int:
    """Return the feature level that the type of the lookup table needs. On Android 10, no type raises the level."""
    is_newer = view.inputs[1].type in {_T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM} and view.android >= 11
    return 3 if is_newer else 1


RULES: dict[int, OperationRule] = {
    _O.SPLIT: operation("Split.cpp: split::validate", NUMBER_3, form(SAME, INT32, INT32), outputs=(Form((), repeated=SAME),)),
    _O.CONCATENATION: operation(
        "Concatenation.cpp: concatenation::validate",
        REAL_1,
        Form((), repeated=SAME, tail=(INT32,)),
        checks=(lambda view: max_rank(view, *range(len(view.inputs) - 1)), _concatenation_level),
    ),
    _O.PACK: operation(
        "Pack.cpp: pack_op::validate",
        dict.fromkeys(NUMBER_3, 6),
        Form((INT32,), repeated=SAME),
        decider=OperandPart("output", 0),
        checks=(lambda view: equal_quantization(view, *range(1, len(view.inputs))), _pack_rank),
    ),
    _O.PAD: operation("Reshape.cpp: reshape::validatePad", REAL_2, form(SAME, TENSOR_INT32), checks=(max_rank, zero_point_level)),
    _O.PAD_V2: operation("Reshape.cpp: reshape::validatePadV2", REAL_3, form(SAME, TENSOR_INT32, _PAD_VALUE), checks=(max_rank,)),
    _O.MIRROR_PAD: operation(
        "MirrorPad.cpp: mirror_pad_op::validate",
        NUMBER_7,
        form(SAME, TENSOR_INT32, INT32),
        checks=(equal_quantization, _mirror_pad_shape),
    ),
    _O.RESIZE_BILINEAR: _resize({**FLOAT_1, **QUANT8_3}, OptionalInputs(3, (FALSE, FALSE, FALSE)), form(*_RESIZE)),
    _O.RESIZE_NEAREST_NEIGHBOR: _resize(REAL_3, OptionalInputs(4, (FALSE, FALSE))),
    _O.STRIDED_SLICE: operation(
        "StridedSlice.cpp: strided_slice::validate",
        REAL_2,
        form(SAME, TENSOR_INT32, TENSOR_INT32, TENSOR_INT32, INT32, INT32, INT32),
        checks=(max_rank,),
    ),
    _O.SLICE: operation("Slice.cpp: slice::validate", NUMBER_3, form(SAME, TENSOR_INT32, TENSOR_INT32)),
    _O.REVERSE: operation(
        "Reverse.cpp: reverse_op::validate", NUMBER_7, form(SAME, TENSOR_INT32), checks=(equal_quantization, _reverse_shape)
    ),
    _O.RESHAPE: operation(
        "Reshape.cpp: reshape::validateReshape", {**REAL_1, **levels(INT32=6)}, form(SAME, TENSOR_INT32), checks=(max_rank,)
    ),
    _O.SQUEEZE: operation("Squeeze.cpp: squeeze::validate", REAL_2, form(SAME, TENSOR_INT32), checks=(max_rank,)),
    _O.TRANSPOSE: operation("Transpose.cpp: transpose::validate", REAL_2, form(SAME, TENSOR_INT32), checks=(max_rank,)),
    _O.EXPAND_DIMS: operation("ExpandDims.cpp: expand_dims::validate", NUMBER_3, form(SAME, INT32)),
    _O.DEPTH_TO_SPACE: _block("validateDepthToSpace"),
    _O.SPACE_TO_DEPTH: _block("validateSpaceToDepth"),
    _O.BATCH_TO_SPACE_ND: operation(
        "Reshape.cpp: reshape::validateBatchToSpaceND",
        REAL_2,
        form(SAME, TENSOR_INT32),
        form(SAME, TENSOR_INT32, BOOL, level=3),
        optional=(OptionalInputs(2, (FALSE,)),),
    ),
    _O.SPACE_TO_BATCH_ND: operation(
        "Reshape.cpp: reshape::validateSpaceToBatchND",
        REAL_2,
        form(SAME, TENSOR_INT32, TENSOR_INT32),
        form(SAME, TENSOR_INT32, TENSOR_INT32, BOOL, level=3),
        optional=(OptionalInputs(3, (FALSE,)),),
        checks=(zero_point_level,),
    ),
    _O.CHANNEL_SHUFFLE: operation(
        "ChannelShuffle.cpp: channel_shuffle::validate", REAL_3, form(SAME, INT32, INT32), checks=(max_rank,)
    ),
    _O.RANK: operation("Rank.cpp: rank_op::validate", dict.fromkeys(_RANK_TYPES, 4), form(SAME), outputs=(form(INT32),)),
    _O.GATHER: operation("Gather.cpp: gather::validate", NUMBER_3, form(SAME, INT32, TENSOR_INT32)),
    _O.TOPK_V2: operation("TopK_V2.cpp: topk_v2::validate", NUMBER_3, form(SAME, INT32), outputs=(form(SAME, TENSOR_INT32),)),
    _O.EMBEDDING_LOOKUP: operation(
        "EmbeddingLookup.cpp: embedding_lookup::validate",
        levels(FLOAT32=1, FLOAT16=4, QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=4, INT32=1),
        form(TENSOR_INT32, SAME),
        decider=OperandPart("input", 1),
        checks=(_embedding_level,),
    ),
    _O.HASHTABLE_LOOKUP: operation(
        "HashtableLookup.cpp: hashtable_lookup::validate",
        levels(FLOAT32=1, INT32=1, QUANT8_ASYMM=1),
        form(TENSOR_INT32, TENSOR_INT32, SAME),
        outputs=(form(SAME, one_of(_T.TENSOR_QUANT8_ASYMM)),),
        decider=OperandPart("input", 2),
    ),
    _O.LSH_PROJECTION: operation(
        "LSHProjection.cpp: lsh_projection::validate",
        FLOAT_1,
        form(SAME, one_of(_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32, _T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM), SAME, INT32),
        outputs=(form(TENSOR_INT32),),
    ),
    _O.FILL: operation(
        "Fill.cpp: fill_op::validate",
        levels(FLOAT32=4, FLOAT16=4, INT32=4),
        form(TENSOR_INT32, SCALAR),
        decider=OperandPart("output", 0),
    ),
    _O.TILE: operation("Tile.cpp: tile::validate", NUMBER_3, form(SAME, TENSOR_INT32)),
    _O.RANDOM_MULTINOMIAL: operation(
        "Multinomial.cpp: multinomial::validate", FLOAT_3, form(SAME, INT32, TENSOR_INT32), outputs=(form(TENSOR_INT32),)
    ),
}
