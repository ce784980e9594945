"""Joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import as_list
from ....rules.kinds import CONSTANT, OPERAND_VALUE
from ....rules.operands import INPUT, at_least, at_most, operand
from ....rules.rule import Rules, op_rule
from ....rules.vocabulary import check, rank
from ..target import (
    FEATURE_LEVEL_6,
    NNAPI_1_2,
    NNAPI_1_3,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERAND_VALUE,
    NnapiTarget,
    below_level,
    from_level,
)
from .checks import (
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_UINT8_INT32,
    NO_ACTIVATION,
    SOURCE,
    constant_int32,
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
}
