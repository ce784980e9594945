"""Operators that move elements: shapes, slices, padding, joining and splitting (``delegates/hexagon/utils.cc``)."""

from __future__ import annotations

from ....graph import NodeView
from .checks import (
    ATTRIBUTE,
    INT32,
    OPERAND_COUNT,
    QUANT8,
    TENSOR_TYPE,
    all_inputs_quant8,
    check,
    constant,
    hexagon_rule,
    hexagon_rules,
    inputs,
    option_is_zero,
)

_INDICES = ("INT32", "INT64")
_REFLECT, _SYMMETRIC = 0, 1


def _unknown_mode(node: NodeView) -> str | None:
    is_known = node.options.table is not None and node.options.mode in (_REFLECT, _SYMMETRIC)
    return None if is_known else "an unknown mode"


def _many_operands(node: NodeView) -> str | None:
    return None if len(node.node.inputs) <= 2 else f"{len(node.node.inputs)} inputs"


def _type_of_data(node: NodeView) -> str | None:
    found = node.input(0).type
    return None if found in QUANT8 else f"input 0 is {found}"


_PADDED = (*inputs(QUANT8, INT32), constant(1, "padding"))

RULES = {
    "PAD": hexagon_rule(*_PADDED, version=2),
    "MIRROR_PAD": hexagon_rule(*_PADDED, check(ATTRIBUTE, "mode REFLECT or SYMMETRIC", _unknown_mode), version=2),
    "RESHAPE": hexagon_rule(
        check(OPERAND_COUNT, "at most 2 inputs", _many_operands),
        check(TENSOR_TYPE, "input 0 of type UINT8 or INT8", _type_of_data),
    ),
    "TRANSPOSE": hexagon_rule(*inputs(QUANT8, INT32), version=2),
    **hexagon_rules(("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"), *inputs(QUANT8), version=2),
    **hexagon_rules(("CONCATENATION", "PACK"), *all_inputs_quant8(), version=2),
    "SPLIT": hexagon_rule(*inputs(INT32, QUANT8), constant(0, "axis"), version=2),
    "SLICE": hexagon_rule(
        constant(1, "begin"),
        constant(2, "size"),
        *inputs(QUANT8, _INDICES, _INDICES),
        version=2,
    ),
    "STRIDED_SLICE": hexagon_rule(
        *inputs(QUANT8, INT32, INT32, INT32),
        constant(1, "begin"),
        constant(2, "end"),
        constant(3, "strides"),
        option_is_zero("ellipsis_mask", "write the slice without an ellipsis"),
        option_is_zero("new_axis_mask", "add the dimension with RESHAPE"),
        version=2,
    ),
}
