"""Gathering, scattering, lookups and searches."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import by_reshape, in_code
from ....rules.kinds import OPERAND_COUNT, OPERAND_VALUE
from ....rules.number_sets import at_least, counted
from ....rules.operands import INPUT, OUTPUT, operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, rank, refused_if, typed
from ..kinds import OUTPUT_TYPE, UNSUPPORTED_INPUT_TYPE
from ..target import NNAPI_1_2, NnapiTarget, below_level
from .checks import (
    FLOAT,
    FLOAT16_QUANT8_INT32,
    FLOAT_QUANT8_INT32,
    INT32,
    constant_int32,
    max_op_version,
    min_level,
    op_version,
    type_in,
)

_SPARSE_PROJECTION = 1


def _is_sparse(node: NodeView) -> bool:
    return bool(node.options.type == _SPARSE_PROJECTION)


def _weights_of_sparse_projection(node: NodeView) -> str | None:
    return counted(len(node.inputs), "input") if _is_sparse(node) and len(node.inputs) != 2 else None


RULES: Rules[NnapiTarget] = {
    "LSH_PROJECTION": OpRule(
        (
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
                _weights_of_sparse_projection,
                "remove the weights, or use a dense projection",
            ),
        )
    ),
    "TOPK_V2": OpRule(
        (max_op_version(2), min_level(NNAPI_1_2), type_in(INPUT, FLOAT_QUANT8_INT32), constant_int32(operand(1, "k")))
    ),
    "EMBEDDING_LOOKUP": OpRule((op_version(1), typed(operand(1, "table"), FLOAT))),
    "GATHER": OpRule(
        (
            op_version(2),
            min_level(NNAPI_1_2),
            type_in(INPUT, FLOAT16_QUANT8_INT32),
            typed(operand(1, "index tensor"), INT32, hint=in_code("use INT32 indices")),
            rank(operand(1, "index tensor"), at_least(1), hint=by_reshape("give the index a dimension with RESHAPE")),
        )
    ),
    "HASHTABLE_LOOKUP": OpRule((op_version(1), typed(OUTPUT, FLOAT, kind=OUTPUT_TYPE))),
}
