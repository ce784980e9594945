"""Joining, padding, resizing, slicing, reshaping, gathering and filling, also with random numbers."""

from __future__ import annotations

from ..operands import FALSE, OptionalInputs
from ..refusal import OperandPart, Violation, rule
from ..types import OperandType, OperationType
from .signature import (
    BOOL,
    EQUAL_QUANTIZATION,
    FLOAT_1,
    FLOAT_3,
    INT32,
    NUMBER_3,
    NUMBER_7,
    QUANT8_3,
    QUANTIZATION_EQUAL,
    RANK_LIMIT,
    REAL_1,
    REAL_2,
    REAL_3,
    SAME,
    SCALAR,
    TENSOR_INT32,
    Decider,
    Form,
    OperationRule,
    OperationView,
    SignatureCheck,
    Slot,
    by_type,
    form,
    levels,
    max_rank,
    one_of,
    unequal_quantization,
    unequal_rank,
    zero_point_level,
)

_T = OperandType
_O = OperationType

PACK_RANK = rule("operation-pack-rank")


def _pack_rank(view: OperationView) -> Violation | None:
    needed = max(view.outputs[0].rank - 1, 0)
    for index, operand in enumerate(view.inputs[1:], 1):
        if operand.rank and needed and operand.rank != needed:
            return OperandPart("input", index, "rank"), operand.rank, needed
        needed = needed or operand.rank
    return None


def _pack_quantization(view: OperationView) -> Violation | None:
    return next((violation for i in range(1, len(view.inputs)) if (violation := unequal_quantization(view, i))), None)


def _concatenation_level(view: OperationView) -> int:
    """Return the feature level that the quantization of the inputs needs.

    Below level 3, quantized inputs must have the scale and zero point of the output.
    """
    if view.inputs[0].type != _T.TENSOR_QUANT8_ASYMM:
        return 1
    output = view.outputs[0]
    are_equal = all((one.scale, one.zero_point) == (output.scale, output.zero_point) for one in view.inputs[:-1])
    return 1 if are_equal else 3


MIRROR_PAD_SHAPE = rule("operation-mirror-pad-shape")


def _mirror_pad_shape(view: OperationView) -> Violation | None:
    rank, paddings = view.inputs[0].rank, view.inputs[1].dimensions
    if paddings:
        if len(paddings) != 2 or paddings[1] not in {0, 2}:
            return OperandPart("input", 1, "dimensions"), list(paddings), "[rank of input 0, 2]"
        if rank and paddings[0] not in {0, rank}:
            return OperandPart("input", 1, "dimensions"), list(paddings), f"[{rank}, 2]"
    return unequal_rank(view)


_PAD_VALUE = by_type({_T.TENSOR_FLOAT16: _T.FLOAT16, _T.TENSOR_FLOAT32: _T.FLOAT32}, _T.INT32)

RESIZE_SIZES = rule("operation-resize-sizes")


def _resize_sizes(view: OperationView) -> Violation | None:
    width, height = view.inputs[1].type, view.inputs[2].type
    return None if width == height else (OperandPart("input", 1, "type"), _T(width), f"the type of input 2, {_T(height)!s}")


_SIZE_OR_SCALE = Slot(lambda decider: frozenset({_T.INT32, _T.FLOAT16 if decider == _T.TENSOR_FLOAT16 else _T.FLOAT32}))
_RESIZE = (SAME, _SIZE_OR_SCALE, _SIZE_OR_SCALE)


def _resize(table: dict[int, int], optional: OptionalInputs, *forms: Form) -> OperationRule:
    return OperationRule(
        "ResizeImageOps.cpp: resize_image::validate",
        table,
        (*forms, form(*_RESIZE, BOOL, level=3), form(*_RESIZE, BOOL, BOOL, level=4), form(*_RESIZE, BOOL, BOOL, BOOL, level=4)),
        checks=(SignatureCheck(RESIZE_SIZES, _resize_sizes),),
        raises=(lambda view: 1 if view.inputs[2].type == _T.INT32 else 3,),
        optional=(optional,),
    )


REVERSE_SHAPE = rule("operation-reverse-shape")


def _reverse_shape(view: OperationView) -> Violation | None:
    axis = view.inputs[1].dimensions
    if axis and (len(axis) != 1 or axis[0] not in {0, 1}):
        return OperandPart("input", 1, "dimensions"), list(axis), "[1]"
    return unequal_rank(view)


def _block(function: str) -> OperationRule:
    forms = (form(SAME, INT32), form(SAME, INT32, BOOL, level=3))
    return OperationRule(f"Reshape.cpp: reshape::{function}", REAL_1, forms, optional=(OptionalInputs(2, (FALSE,)),))


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
    _O.SPLIT: OperationRule("Split.cpp: split::validate", NUMBER_3, (form(SAME, INT32, INT32),), (Form((), repeated=SAME),)),
    _O.CONCATENATION: OperationRule(
        "Concatenation.cpp: concatenation::validate",
        REAL_1,
        (Form((), repeated=SAME, tail=(INT32,)),),
        checks=(SignatureCheck(RANK_LIMIT, lambda view: max_rank(*range(len(view.inputs) - 1)).find(view)),),
        raises=(_concatenation_level,),
    ),
    _O.PACK: OperationRule(
        "Pack.cpp: pack_op::validate",
        dict.fromkeys(NUMBER_3, 6),
        (Form((INT32,), repeated=SAME),),
        decider=Decider(is_output=True),
        checks=(SignatureCheck(QUANTIZATION_EQUAL, _pack_quantization), SignatureCheck(PACK_RANK, _pack_rank)),
    ),
    _O.PAD: OperationRule(
        "Reshape.cpp: reshape::validatePad",
        REAL_2,
        (form(SAME, TENSOR_INT32),),
        checks=(max_rank(0),),
        raises=(zero_point_level,),
    ),
    _O.PAD_V2: OperationRule(
        "Reshape.cpp: reshape::validatePadV2", REAL_3, (form(SAME, TENSOR_INT32, _PAD_VALUE),), checks=(max_rank(0),)
    ),
    _O.MIRROR_PAD: OperationRule(
        "MirrorPad.cpp: mirror_pad_op::validate",
        NUMBER_7,
        (form(SAME, TENSOR_INT32, INT32),),
        checks=(EQUAL_QUANTIZATION, SignatureCheck(MIRROR_PAD_SHAPE, _mirror_pad_shape)),
    ),
    _O.RESIZE_BILINEAR: _resize({**FLOAT_1, **QUANT8_3}, OptionalInputs(3, (FALSE, FALSE, FALSE)), form(*_RESIZE)),
    _O.RESIZE_NEAREST_NEIGHBOR: _resize(REAL_3, OptionalInputs(4, (FALSE, FALSE))),
    _O.STRIDED_SLICE: OperationRule(
        "StridedSlice.cpp: strided_slice::validate",
        REAL_2,
        (form(SAME, TENSOR_INT32, TENSOR_INT32, TENSOR_INT32, INT32, INT32, INT32),),
        checks=(max_rank(0),),
    ),
    _O.SLICE: OperationRule("Slice.cpp: slice::validate", NUMBER_3, (form(SAME, TENSOR_INT32, TENSOR_INT32),)),
    _O.REVERSE: OperationRule(
        "Reverse.cpp: reverse_op::validate",
        NUMBER_7,
        (form(SAME, TENSOR_INT32),),
        checks=(EQUAL_QUANTIZATION, SignatureCheck(REVERSE_SHAPE, _reverse_shape)),
    ),
    _O.RESHAPE: OperationRule(
        "Reshape.cpp: reshape::validateReshape", {**REAL_1, **levels(INT32=6)}, (form(SAME, TENSOR_INT32),), checks=(max_rank(0),)
    ),
    _O.SQUEEZE: OperationRule("Squeeze.cpp: squeeze::validate", REAL_2, (form(SAME, TENSOR_INT32),), checks=(max_rank(0),)),
    _O.TRANSPOSE: OperationRule("Transpose.cpp: transpose::validate", REAL_2, (form(SAME, TENSOR_INT32),), checks=(max_rank(0),)),
    _O.EXPAND_DIMS: OperationRule("ExpandDims.cpp: expand_dims::validate", NUMBER_3, (form(SAME, INT32),)),
    _O.DEPTH_TO_SPACE: _block("validateDepthToSpace"),
    _O.SPACE_TO_DEPTH: _block("validateSpaceToDepth"),
    _O.BATCH_TO_SPACE_ND: OperationRule(
        "Reshape.cpp: reshape::validateBatchToSpaceND",
        REAL_2,
        (form(SAME, TENSOR_INT32), form(SAME, TENSOR_INT32, BOOL, level=3)),
        optional=(OptionalInputs(2, (FALSE,)),),
    ),
    _O.SPACE_TO_BATCH_ND: OperationRule(
        "Reshape.cpp: reshape::validateSpaceToBatchND",
        REAL_2,
        (form(SAME, TENSOR_INT32, TENSOR_INT32), form(SAME, TENSOR_INT32, TENSOR_INT32, BOOL, level=3)),
        raises=(zero_point_level,),
        optional=(OptionalInputs(3, (FALSE,)),),
    ),
    _O.CHANNEL_SHUFFLE: OperationRule(
        "ChannelShuffle.cpp: channel_shuffle::validate", REAL_3, (form(SAME, INT32, INT32),), checks=(max_rank(0),)
    ),
    _O.RANK: OperationRule("Rank.cpp: rank_op::validate", dict.fromkeys(_RANK_TYPES, 4), (form(SAME),), (form(INT32),)),
    _O.GATHER: OperationRule("Gather.cpp: gather::validate", NUMBER_3, (form(SAME, INT32, TENSOR_INT32),)),
    _O.TOPK_V2: OperationRule("TopK_V2.cpp: topk_v2::validate", NUMBER_3, (form(SAME, INT32),), (form(SAME, TENSOR_INT32),)),
    _O.EMBEDDING_LOOKUP: OperationRule(
        "EmbeddingLookup.cpp: embedding_lookup::validate",
        levels(FLOAT32=1, FLOAT16=4, QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=4, INT32=1),
        (form(TENSOR_INT32, SAME),),
        decider=Decider(1),
        raises=(_embedding_level,),
    ),
    _O.HASHTABLE_LOOKUP: OperationRule(
        "HashtableLookup.cpp: hashtable_lookup::validate",
        levels(FLOAT32=1, INT32=1, QUANT8_ASYMM=1),
        (form(TENSOR_INT32, TENSOR_INT32, SAME),),
        (form(SAME, one_of(_T.TENSOR_QUANT8_ASYMM)),),
        decider=Decider(2),
    ),
    _O.LSH_PROJECTION: OperationRule(
        "LSHProjection.cpp: lsh_projection::validate",
        FLOAT_1,
        (form(SAME, one_of(_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32, _T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM), SAME, INT32),),
        (form(TENSOR_INT32),),
    ),
    _O.FILL: OperationRule(
        "Fill.cpp: fill_op::validate",
        levels(FLOAT32=4, FLOAT16=4, INT32=4),
        (form(TENSOR_INT32, SCALAR),),
        decider=Decider(is_output=True),
    ),
    _O.TILE: OperationRule("Tile.cpp: tile::validate", NUMBER_3, (form(SAME, TENSOR_INT32),)),
    _O.RANDOM_MULTINOMIAL: OperationRule(
        "Multinomial.cpp: multinomial::validate", FLOAT_3, (form(SAME, INT32, TENSOR_INT32),), (form(TENSOR_INT32),)
    ),
}
