"""Operations that move, cut, join or look up elements, and reductions."""

from __future__ import annotations

from ..refusal import Violation
from ..types import OperandType, OperationType
from .levels import BOOL_3, FLOAT_1, FLOAT_3, NUMBER_3, QUANT8_3, REAL_1, REAL_2, REAL_3, levels
from .shared import EQUAL_QUANTIZATION, QUANTIZATION_EQUAL, RANK_LIMIT, max_rank, unequal_quantization
from .signature import (
    BOOL,
    INT32,
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
    one_of,
    operation_rule,
)

_T = OperandType
_O = OperationType

_NUMBER_7 = dict.fromkeys(NUMBER_3, 7)

PACK_RANK = operation_rule(
    "pack-rank", "The inputs of PACK have one rank, the output one dimension more.", "Pack.cpp: pack_op::validate"
)
MIRROR_PAD_SHAPE = operation_rule(
    "mirror-pad-shape",
    "The paddings of MIRROR_PAD are two for each dimension, and the output has the input's rank.",
    "MirrorPad.cpp: mirror_pad_op::validate",
)
REVERSE_SHAPE = operation_rule(
    "reverse-shape", "REVERSE has one axis, and the output has the input's rank.", "Reverse.cpp: reverse_op::validate"
)
RESIZE_SIZES = operation_rule(
    "resize-sizes", "Width and height of a resize are both sizes or both scales.", "ResizeImageOps.cpp: resize_image::validate"
)


def _pack_rank(view: OperationView) -> Violation | None:
    """Ranks that are not known are passed over."""
    needed = max(view.outputs[0].rank - 1, 0)
    for index, operand in enumerate(view.inputs[1:], 1):
        if operand.rank and needed and operand.rank != needed:
            return Violation(f"rank of input {index}", str(operand.rank), str(needed))
        needed = needed or operand.rank
    return None


def _pack_quantization(view: OperationView) -> Violation | None:
    return next((found for i in range(1, len(view.inputs)) if (found := unequal_quantization(view, i))), None)


def _mirror_pad_shape(view: OperationView) -> Violation | None:
    rank, paddings = view.inputs[0].rank, view.inputs[1].dimensions
    if paddings:
        if len(paddings) != 2 or paddings[1] not in {0, 2}:
            return Violation("dimensions of input 1", str(list(paddings)), "the rank by 2")
        if rank and paddings[0] not in {0, rank}:
            return Violation("dimensions of input 1", str(list(paddings)), f"[{rank}, 2]")
    return _unequal_rank(view)


def _reverse_shape(view: OperationView) -> Violation | None:
    axis = view.inputs[1].dimensions
    if axis and (len(axis) != 1 or axis[0] not in {0, 1}):
        return Violation("dimensions of input 1", str(list(axis)), "[1]")
    return _unequal_rank(view)


def _unequal_rank(view: OperationView) -> Violation | None:
    rank, output_rank = view.inputs[0].rank, view.outputs[0].rank
    if rank and output_rank and rank != output_rank:
        return Violation("rank of output 0", str(output_rank), f"the input's, {rank}")
    return None


def _resize_sizes(view: OperationView) -> Violation | None:
    width, height = view.inputs[1].type, view.inputs[2].type
    return None if width == height else Violation("type of input 1", _T(width).name, f"that of input 2, {_T(height).name}")


def _resize_scale_level(view: OperationView) -> int:
    return 1 if view.inputs[2].type == _T.INT32 else 3


def _concatenation_level(view: OperationView) -> int:
    """Before level 3 quantised inputs had to have the output's scale and zero point."""
    if view.inputs[0].type != _T.TENSOR_QUANT8_ASYMM:
        return 1
    output = view.outputs[0]
    are_equal = all((one.scale, one.zero_point) == (output.scale, output.zero_point) for one in view.inputs[:-1])
    return 1 if are_equal else 3


def _zero_point_level(view: OperationView) -> int:
    """Before level 3 padding was with the number 0, which had to be the value 0."""
    return 3 if view.inputs[0].type == _T.TENSOR_QUANT8_ASYMM and view.inputs[0].zero_point != 0 else 1


def _embedding_level(view: OperationView) -> int:
    """Android 10 took these types at any level."""
    is_newer = view.inputs[1].type in {_T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM} and view.android >= 11
    return 3 if is_newer else 1


def _reduction(table: dict[int, int], function: str) -> OperationRule:
    return OperationRule(f"Reduce.cpp: reduce::{function}", table, (form(SAME, TENSOR_INT32, BOOL),), checks=(max_rank(0),))


def _block(function: str) -> OperationRule:
    return OperationRule(f"Reshape.cpp: reshape::{function}", REAL_1, (form(SAME, INT32), form(SAME, INT32, BOOL, level=3)))


def _concatenation_ranks(view: OperationView) -> Violation | None:
    return max_rank(*range(len(view.inputs) - 1)).find(view)


_SIZE_OR_SCALE = Slot(
    "size or scale", lambda decider: frozenset({_T.INT32, _T.FLOAT16 if decider == _T.TENSOR_FLOAT16 else _T.FLOAT32})
)
_RESIZE = (SAME, _SIZE_OR_SCALE, _SIZE_OR_SCALE)
_PAD_VALUE = by_type("value to pad with", {_T.TENSOR_FLOAT16: _T.FLOAT16, _T.TENSOR_FLOAT32: _T.FLOAT32}, _T.INT32)
_RANK_TYPES = (
    *NUMBER_3,
    _T.TENSOR_QUANT16_SYMM,
    _T.TENSOR_BOOL8,
    _T.TENSOR_QUANT8_SYMM_PER_CHANNEL,
    _T.TENSOR_QUANT16_ASYMM,
    _T.TENSOR_QUANT8_SYMM,
)


def _resize(table: dict[int, int], *forms: Form) -> OperationRule:
    return OperationRule(
        "ResizeImageOps.cpp: resize_image::validate",
        table,
        (
            *forms,
            form(*_RESIZE, BOOL, level=3),
            form(*_RESIZE, BOOL, BOOL, level=4),
            form(*_RESIZE, BOOL, BOOL, BOOL, level=4),
        ),
        checks=(SignatureCheck(RESIZE_SIZES, _resize_sizes),),
        raises=(_resize_scale_level,),
    )


_ARG_MIN_MAX = OperationRule(
    "ArgMinMax.cpp: arg_min_max::validate", dict.fromkeys(NUMBER_3, 3), (form(SAME, INT32),), (form(TENSOR_INT32),)
)
_LOGICAL_REDUCTION = _reduction(BOOL_3, "validateLogical")
_MAX_MIN_REDUCTION = _reduction(REAL_3, "validateMaxMin")
_PROD_SUM_REDUCTION = _reduction(FLOAT_3, "validateProdSum")

RULES: dict[int, OperationRule] = {
    _O.RESHAPE: OperationRule(
        "Reshape.cpp: reshape::validateReshape",
        {**REAL_1, **levels(INT32=6)},
        (form(SAME, TENSOR_INT32),),
        checks=(max_rank(0),),
    ),
    _O.SQUEEZE: OperationRule("Squeeze.cpp: squeeze::validate", REAL_2, (form(SAME, TENSOR_INT32),), checks=(max_rank(0),)),
    _O.TRANSPOSE: OperationRule("Transpose.cpp: transpose::validate", REAL_2, (form(SAME, TENSOR_INT32),), checks=(max_rank(0),)),
    _O.STRIDED_SLICE: OperationRule(
        "StridedSlice.cpp: strided_slice::validate",
        REAL_2,
        (form(SAME, TENSOR_INT32, TENSOR_INT32, TENSOR_INT32, INT32, INT32, INT32),),
        checks=(max_rank(0),),
    ),
    _O.SLICE: OperationRule("Slice.cpp: slice::validate", NUMBER_3, (form(SAME, TENSOR_INT32, TENSOR_INT32),)),
    _O.SPLIT: OperationRule("Split.cpp: split::validate", NUMBER_3, (form(SAME, INT32, INT32),), (Form((), repeated=SAME),)),
    _O.CONCATENATION: OperationRule(
        "Concatenation.cpp: concatenation::validate",
        REAL_1,
        (Form((), repeated=SAME, tail=(INT32,)),),
        checks=(SignatureCheck(RANK_LIMIT, _concatenation_ranks),),
        raises=(_concatenation_level,),
    ),
    _O.PACK: OperationRule(
        "Pack.cpp: pack_op::validate",
        dict.fromkeys(NUMBER_3, 6),
        (Form((INT32,), repeated=SAME),),
        decider=Decider(is_output=True),
        checks=(SignatureCheck(QUANTIZATION_EQUAL, _pack_quantization), SignatureCheck(PACK_RANK, _pack_rank)),
    ),
    _O.FILL: OperationRule(
        "Fill.cpp: fill_op::validate",
        levels(FLOAT32=4, FLOAT16=4, INT32=4),
        (form(TENSOR_INT32, SCALAR),),
        decider=Decider(is_output=True),
    ),
    _O.EXPAND_DIMS: OperationRule("ExpandDims.cpp: expand_dims::validate", NUMBER_3, (form(SAME, INT32),)),
    _O.TILE: OperationRule("Tile.cpp: tile::validate", NUMBER_3, (form(SAME, TENSOR_INT32),)),
    _O.GATHER: OperationRule("Gather.cpp: gather::validate", NUMBER_3, (form(SAME, INT32, TENSOR_INT32),)),
    _O.REVERSE: OperationRule(
        "Reverse.cpp: reverse_op::validate",
        _NUMBER_7,
        (form(SAME, TENSOR_INT32),),
        checks=(EQUAL_QUANTIZATION, SignatureCheck(REVERSE_SHAPE, _reverse_shape)),
    ),
    _O.PAD: OperationRule(
        "Reshape.cpp: reshape::validatePad",
        REAL_2,
        (form(SAME, TENSOR_INT32),),
        checks=(max_rank(0),),
        raises=(_zero_point_level,),
    ),
    _O.PAD_V2: OperationRule(
        "Reshape.cpp: reshape::validatePadV2", REAL_3, (form(SAME, TENSOR_INT32, _PAD_VALUE),), checks=(max_rank(0),)
    ),
    _O.MIRROR_PAD: OperationRule(
        "MirrorPad.cpp: mirror_pad_op::validate",
        _NUMBER_7,
        (form(SAME, TENSOR_INT32, INT32),),
        checks=(EQUAL_QUANTIZATION, SignatureCheck(MIRROR_PAD_SHAPE, _mirror_pad_shape)),
    ),
    _O.DEPTH_TO_SPACE: _block("validateDepthToSpace"),
    _O.SPACE_TO_DEPTH: _block("validateSpaceToDepth"),
    _O.BATCH_TO_SPACE_ND: OperationRule(
        "Reshape.cpp: reshape::validateBatchToSpaceND",
        REAL_2,
        (form(SAME, TENSOR_INT32), form(SAME, TENSOR_INT32, BOOL, level=3)),
    ),
    _O.SPACE_TO_BATCH_ND: OperationRule(
        "Reshape.cpp: reshape::validateSpaceToBatchND",
        REAL_2,
        (form(SAME, TENSOR_INT32, TENSOR_INT32), form(SAME, TENSOR_INT32, TENSOR_INT32, BOOL, level=3)),
        raises=(_zero_point_level,),
    ),
    _O.RESIZE_BILINEAR: _resize({**FLOAT_1, **QUANT8_3}, form(*_RESIZE)),
    _O.RESIZE_NEAREST_NEIGHBOR: _resize(REAL_3),
    _O.CHANNEL_SHUFFLE: OperationRule(
        "ChannelShuffle.cpp: channel_shuffle::validate", REAL_3, (form(SAME, INT32, INT32),), checks=(max_rank(0),)
    ),
    _O.MEAN: OperationRule("SimpleMath.cpp: mean::validate", REAL_2, (form(SAME, TENSOR_INT32, INT32),), checks=(max_rank(0),)),
    _O.REDUCE_ALL: _LOGICAL_REDUCTION,
    _O.REDUCE_ANY: _LOGICAL_REDUCTION,
    _O.REDUCE_MAX: _MAX_MIN_REDUCTION,
    _O.REDUCE_MIN: _MAX_MIN_REDUCTION,
    _O.REDUCE_PROD: _PROD_SUM_REDUCTION,
    _O.REDUCE_SUM: _PROD_SUM_REDUCTION,
    _O.ARGMAX: _ARG_MIN_MAX,
    _O.ARGMIN: _ARG_MIN_MAX,
    _O.TOPK_V2: OperationRule("TopK_V2.cpp: topk_v2::validate", NUMBER_3, (form(SAME, INT32),), (form(SAME, TENSOR_INT32),)),
    _O.RANK: OperationRule("Rank.cpp: rank_op::validate", dict.fromkeys(_RANK_TYPES, 4), (form(SAME),), (form(INT32),)),
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
}
