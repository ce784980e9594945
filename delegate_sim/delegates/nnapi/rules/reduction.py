"""Reductions and running sums."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model import schema
from ....rules.hints import in_code
from ....rules.kinds import TENSOR_TYPE
from ....rules.number_sets import at_least, at_most
from ....rules.operands import INPUT, OUTPUT
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, rank, refused_if, typed
from ..kinds import OUTPUT_TYPE, SCALAR_OUTPUT, UNSUPPORTED_OPERAND_VALUE, UNSUPPORTED_OUTPUT_TYPE
from ..target import NNAPI_1_1, NNAPI_1_2, NnapiTarget, below_level, from_level
from .checks import FLOAT, FLOAT_QUANT8, max_op_version, min_level, op_version, type_and_storage, type_in

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1


def _axis(node: NodeView) -> str | None:
    axis = node.input(1)
    if axis.type == "INT32":
        return None
    if axis.type == "INT64" and axis.is_constant:
        value = node.value(axis)
        if value is not None and len(value) and _LOWEST <= value[0] <= _HIGHEST:
            return None
    return f"axis is {type_and_storage(axis)}"


def _index_type(node: NodeView) -> str | None:
    name = schema.tensor_type_name(node.options.output_type)
    return None if name == "INT32" else f"output_type {name}"


_NOT_SCALAR = refused_if(
    SCALAR_OUTPUT, "a result with at least one dimension", lambda node: not OUTPUT.tensor(node).rank, "a scalar result"
)
_ARG_EXTREMUM = OpRule(
    (
        max_op_version(2),
        min_level(NNAPI_1_2),
        type_in(INPUT, ("FLOAT16", "FLOAT32", "INT32", "UINT8", "INT8")),
        check(
            TENSOR_TYPE,
            "an INT32 axis, or a constant INT64 axis that fits INT32",
            _axis,
            in_code("make the axis an INT32 constant"),
        ),
        check(OUTPUT_TYPE, "output_type INT32", _index_type, in_code("set output_type to INT32 in the model")),
    )
)
_EXTREMUM = OpRule(
    (
        max_op_version(2),
        min_level(NNAPI_1_2),
        type_in(INPUT, FLOAT_QUANT8),
        rank(INPUT, at_least(1), hint="reduce only tensors that have dimensions").reported_as(UNSUPPORTED_OUTPUT_TYPE),
    )
)
_FOLD = OpRule((op_version(1), min_level(NNAPI_1_2), _NOT_SCALAR, typed(INPUT, FLOAT)))

RULES: Rules[NnapiTarget] = {
    "ARG_MAX": _ARG_EXTREMUM,
    "ARG_MIN": _ARG_EXTREMUM,
    "MEAN": OpRule(
        (
            max_op_version(2),
            min_level(NNAPI_1_1),
            typed(INPUT, FLOAT_QUANT8).when(from_level(NNAPI_1_2)),
            typed(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
            _NOT_SCALAR,
            rank(INPUT, at_most(4)).reported_as(UNSUPPORTED_OPERAND_VALUE).from_release("tf-2.12"),
        )
    ),
    "REDUCE_ANY": OpRule((op_version(2), min_level(NNAPI_1_2), _NOT_SCALAR)),
    "REDUCE_MAX": _EXTREMUM,
    "REDUCE_MIN": _EXTREMUM,
    "REDUCE_PROD": _FOLD,
    "SUM": _FOLD,
}
