"""Joining, splitting, reshaping, slicing, padding, gathering and filling."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....model.numbers import as_list, bounds
from ....rules.kinds import CONSTANT, OPERAND_COUNT, OPERAND_VALUE, RANK, by_reshape, in_code
from ....rules.operands import INPUT, OUTPUT, at_least, at_most, counted, operand
from ....rules.rule import OpRule, Rules, op_rule
from ....rules.vocabulary import check, constant, has_elements, operand_count, rank, refused_if, typed, where
from ..target import (
    FEATURE_LEVEL_6,
    FEATURE_LEVEL_7,
    FLOAT,
    FLOAT16_QUANT8_INT32,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8_INT32,
    INT32,
    NNAPI_1_1,
    NNAPI_1_2,
    NNAPI_1_3,
    NO_ACTIVATION,
    OUTPUT_TYPE,
    SOURCE,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERAND_VALUE,
    NnapiTarget,
    below_level,
    constant_int32,
    from_level,
    max_op_version,
    min_level,
    op_version,
    type_and_storage,
    type_in,
)

_FLOAT16_TOO = ("FLOAT16", *FLOAT_QUANT8)


def _different_quantization(node: NodeView) -> str | None:
    first = node.input(0)
    if first.type != "UINT8":
        return None
    for position, other in enumerate(node.inputs[1:], 1):
        if other.scale != first.scale or other.zero_point != first.zero_point:
            return f"input {position} with scale {other.scale:g} and zero point {other.zero_point}"
    return None


def _split_sizes(node: NodeView) -> str | None:
    sizes = node.input(1)
    if sizes.type == "INT32" and sizes.rank == 1 and sizes.is_constant:
        return None
    return f"sizes of rank {sizes.rank}, {type_and_storage(sizes)}"


def _split_values(node: NodeView) -> list[int] | None:
    axis = node.input(2)
    if _split_sizes(node) is not None or axis.type != "INT32" or not axis.is_constant:
        return None
    sizes = node.value(node.input(1))
    return None if sizes is None else as_list(sizes[: node.input(1).shape[0]])


def _zero_split(node: NodeView) -> str | None:
    sizes = _split_values(node)
    return f"sizes {sizes}" if sizes is not None and 0 in sizes else None


def _zero_remainder(node: NodeView) -> str | None:
    sizes = _split_values(node)
    axis = node.value(node.input(2))
    if sizes is None or axis is None or -1 not in sizes or not len(axis):
        return None
    shape = node.input(0).shape
    position = int(axis[0]) + (len(shape) if axis[0] < 0 else 0)
    if not 0 <= position < len(shape):
        return None
    remainder = shape[position] - sum(size for size in sizes if size != -1)
    return f"sizes {sizes} for {shape[position]} elements" if remainder == 0 else None


def _pack_last_axis(node: NodeView) -> str | None:
    axis = node.options.axis
    return f"axis {axis}" if axis in (-1, node.input(0).rank) else None


def _unpack_last_axis(node: NodeView) -> str | None:
    axis = node.options.axis
    return f"axis {axis}" if axis in (-1, node.input(0).rank - 1) else None


_NOT_LAST_AXIS = "an axis other than the last"


_NO_CROPS_SIZE = 16


def _reshapes_to_scalar(node: NodeView) -> str | None:
    if len(node.inputs) != 1:
        return None
    shape = node.options.new_shape or ()
    # In old models, the shape [0] means a scalar.
    return None if shape and shape != (0,) else f"new shape {list(shape)}"


def _nonzero_crops(node: NodeView) -> str | None:
    crops = node.input(2)
    value = node.value(crops)
    if value is None:
        return "crops that are not constant"
    size = crops.data[1] if crops.data else value.nbytes
    return None if size == _NO_CROPS_SIZE and not value.tobytes().strip(b"\0") else f"crops {as_list(value)}"


_REFLECT, _SYMMETRIC = 0, 1


def _unknown_mirror_mode(node: NodeView) -> bool:
    return not (node.options.table and node.options.mode in (_REFLECT, _SYMMETRIC))


_HAS_ELEMENTS = has_elements(INPUT).from_source(SOURCE.with_symbol("HasZeroes"))
_PAD: OpRule[NnapiTarget] = op_rule(
    max_op_version(2),
    FLOAT_QUANT8_OPERAND,
    min_level(NNAPI_1_1),
    _HAS_ELEMENTS,
    operand_count(at_least(2)),
    refused_if(
        OPERAND_COUNT,
        "2 inputs before NNAPI 1.2",
        lambda node: len(node.inputs) == 3,
        "3 inputs",
        "pad with zeros and omit the padding value, or use NNAPI 1.2",
    ).when(below_level(NNAPI_1_2)),
    *where(
        lambda node: len(node.inputs) != 3,
        "without a padding value",
        typed(INPUT, FLOAT, hint=in_code("pad float tensors, or use NNAPI 1.2")).when(below_level(NNAPI_1_2)),
    ),
)

_SPARSE_PROJECTION = 1


def _is_sparse(node: NodeView) -> bool:
    return bool(node.options.type == _SPARSE_PROJECTION)


_LOWEST, _HIGHEST = -(2**31), 2**31 - 1
_INDICES = ("INT32", "INT64")


def _fits_int32(node: NodeView, tensor: Tensor) -> bool:
    value = node.value(tensor)
    return value is not None and (not len(value) or _LOWEST <= bounds(value)[0] <= bounds(value)[1] <= _HIGHEST)


def _fills_scalar(node: NodeView) -> bool:
    dimensions = node.input(0)
    return dimensions.is_constant and dimensions.shape[:1] == (0,)


def _is_large_int64(node: NodeView, tensor: Tensor) -> bool:
    return tensor.is_constant and tensor.type == "INT64" and not _fits_int32(node, tensor)


RULES: Rules[NnapiTarget] = {
    "CONCATENATION": op_rule(
        max_op_version(2),
        NO_ACTIVATION,
        rank(INPUT, at_most(4)),
        type_in(INPUT, _FLOAT16_TOO),
        check(
            OPERAND_VALUE,
            "UINT8 operands with the same scale and zero point",
            _different_quantization,
            "quantize all operands with the same scale and zero point, or use NNAPI 1.2",
        ).when(below_level(NNAPI_1_2)),
    ),
    "PACK": op_rule(
        op_version(2),
        min_level(NNAPI_1_3),
        type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level(FEATURE_LEVEL_6)),
        type_in(INPUT, ("FLOAT32", "INT8")).when(below_level(FEATURE_LEVEL_6)),
        check(
            OPERAND_VALUE, _NOT_LAST_AXIS, _pack_last_axis, "pack along another axis and transpose, or use feature level 6"
        ).when(below_level(FEATURE_LEVEL_6)),
    ),
    "SPLIT": op_rule(
        op_version(3),
        min_level(NNAPI_1_2),
        type_in(operand(1), FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
        type_in(operand(1), FLOAT_UINT8_INT32).when(below_level(NNAPI_1_3)),
        constant_int32(operand(0, "axis")),
    ),
    "SPLIT_V": op_rule(
        op_version(2),
        min_level(NNAPI_1_3),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        check(CONSTANT, "a constant INT32 vector of sizes", _split_sizes, "make the sizes a constant INT32 vector").reported_as(
            UNSUPPORTED_INPUT_TYPE
        ),
        constant_int32(operand(2, "axis")),
        check(OPERAND_VALUE, "sizes other than 0", _zero_split, "remove empty parts").reported_as(UNSUPPORTED_INPUT_TYPE),
        check(OPERAND_VALUE, "at least one element for the size -1", _zero_remainder, "remove the empty part")
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .from_source(SOURCE.with_symbol("ComputeSplitVUnknownSplitSize")),
    ),
    "UNPACK": op_rule(
        op_version(2),
        min_level(NNAPI_1_3),
        type_in(INPUT, FLOAT_QUANT8),
        rank(INPUT, at_least(2), kind=OPERAND_VALUE, hint="unpack tensors of at least two dimensions"),
        rank(INPUT, at_most(4)).reported_as(UNSUPPORTED_OPERAND_VALUE),
        check(OPERAND_VALUE, _NOT_LAST_AXIS, _unpack_last_axis, "unpack along another axis, after a TRANSPOSE"),
    ),
    "BATCH_TO_SPACE_ND": op_rule(
        max_op_version(2),
        min_level(NNAPI_1_1),
        check(
            OPERAND_VALUE,
            "two pairs of constant crops that are all 0",
            _nonzero_crops,
            "crop with a SLICE after the node instead",
        ),
    ),
    "DEPTH_TO_SPACE": op_rule(type_in(INPUT, FLOAT_QUANT8)),
    "EXPAND_DIMS": op_rule(
        op_version(1), min_level(NNAPI_1_2), type_in(INPUT, FLOAT16_QUANT8_INT32), constant_int32(operand(1, "axis"))
    ),
    "RESHAPE": op_rule(
        op_version(1),
        FLOAT_QUANT8_OPERAND.when(below_level(FEATURE_LEVEL_6)),
        FLOAT_QUANT8_INT32_OPERAND.when(from_level(FEATURE_LEVEL_6)),
        rank(INPUT, at_most(4)),
        rank(OUTPUT, at_most(4)),
        *where(lambda node: len(node.inputs) > 1, "if there is one", constant(operand(1, "shape"))),
        check(RANK, "a new shape with at least one dimension", _reshapes_to_scalar, "do not reshape to a scalar"),
    ),
    "SPACE_TO_BATCH_ND": op_rule(max_op_version(2), min_level(NNAPI_1_1)),
    "SPACE_TO_DEPTH": op_rule(max_op_version(2), type_in(INPUT, FLOAT_QUANT8)),
    "SQUEEZE": op_rule(
        op_version(1),
        min_level(NNAPI_1_1),
        refused_if(
            OPERAND_VALUE,
            "given squeeze_dims",
            lambda node: not node.options.squeeze_dims,
            "no squeeze_dims",
            "list the dimensions to squeeze, or use NNAPI 1.2",
        )
        .when(from_level(NNAPI_1_1))
        .when(below_level(NNAPI_1_2)),
    ),
    "TRANSPOSE": op_rule(
        max_op_version(2), min_level(NNAPI_1_1), constant(operand(1, "permutation"), hint="fix the permutation before converting")
    ),
    "REVERSE_V2": op_rule(max_op_version(3), min_level(FEATURE_LEVEL_7), FLOAT_QUANT8_INT32_OPERAND, operand_count(2)),
    "SLICE": op_rule(
        max_op_version(2),
        min_level(NNAPI_1_2),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        typed(operand(1, "begin"), INT32, hint=in_code("use INT32 for begin and size")),
        typed(operand(2, "size"), INT32, hint=in_code("use INT32 for begin and size")),
    ),
    "STRIDED_SLICE": op_rule(max_op_version(2), FLOAT_QUANT8_OPERAND, min_level(NNAPI_1_1)),
    "MIRROR_PAD": op_rule(
        max_op_version(2),
        min_level(FEATURE_LEVEL_7),
        FLOAT_QUANT8_INT32_OPERAND,
        refused_if(OPERAND_VALUE, "mode REFLECT or SYMMETRIC", _unknown_mirror_mode, "an unknown mode", "pad with a known mode"),
        _HAS_ELEMENTS,
        operand_count(2),
    ),
    "PAD": _PAD,
    "PADV2": _PAD,
    "LSH_PROJECTION": op_rule(
        op_version(1),
        refused_if(
            OPERAND_VALUE,
            "a dense projection before NNAPI 1.2",
            _is_sparse,
            "a sparse projection",
            "use a dense projection, or use NNAPI 1.2",
        )
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .when(below_level(NNAPI_1_2)),
        check(
            OPERAND_COUNT,
            "2 inputs if the projection is sparse",
            lambda node: counted(len(node.inputs), "input") if _is_sparse(node) and len(node.inputs) != 2 else None,
            "remove the weights, or use a dense projection",
        ),
    ),
    "TOPK_V2": op_rule(
        max_op_version(2), min_level(NNAPI_1_2), type_in(INPUT, FLOAT_QUANT8_INT32), constant_int32(operand(1, "k"))
    ),
    "EMBEDDING_LOOKUP": op_rule(op_version(1), typed(operand(1, "table"), FLOAT)),
    "GATHER": op_rule(
        op_version(2),
        min_level(NNAPI_1_2),
        type_in(INPUT, FLOAT16_QUANT8_INT32),
        typed(operand(1, "index tensor"), INT32, hint=in_code("use INT32 indices")),
        rank(operand(1, "index tensor"), at_least(1), hint=by_reshape("give the index a dimension with RESHAPE")),
    ),
    "HASHTABLE_LOOKUP": op_rule(op_version(1), typed(OUTPUT, FLOAT, kind=OUTPUT_TYPE)),
    "FILL": op_rule(
        op_version(1),
        min_level(NNAPI_1_3),
        constant(operand(0, "shape")).reported_as(UNSUPPORTED_INPUT_TYPE),
        type_in(operand(0, "shape"), _INDICES),
        refused_if(
            OPERAND_VALUE, "a result with dimensions", _fills_scalar, "no dimensions", "use a constant instead of a scalar FILL"
        ),
        refused_if(
            OPERAND_VALUE,
            "dimensions that fit INT32",
            lambda node: _is_large_int64(node, node.input(0)),
            "dimensions beyond INT32",
            "use dimensions that fit INT32",
        ),
        type_in(operand(1, "value"), (*FLOAT, *_INDICES)),
        refused_if(
            OPERAND_VALUE,
            "a value that fits INT32",
            lambda node: _is_large_int64(node, node.input(1)),
            "a value beyond INT32",
            "use a value that fits INT32",
        ).reported_as(UNSUPPORTED_INPUT_TYPE),
    ),
    "TILE": op_rule(
        op_version(1),
        min_level(NNAPI_1_2),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        typed(operand(1, "list of multiples"), INT32, hint=in_code("use INT32 multiples")),
    ),
}
