"""Matrix products and diagonals."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import by_reshape
from ....rules.kinds import BROADCAST
from ....rules.number_sets import between
from ....rules.operands import INPUT, OUTPUT, operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, check_for_target, rank, refused_if, same_type
from ..kinds import FEATURE_LEVEL, OUTPUT_TYPE, UNSUPPORTED_INPUT_TYPE
from ..node_predicates import hybrid_with_weights
from ..target import FEATURE_LEVEL_6, NNAPI_1_2, NNAPI_1_3, NnapiTarget, below_level
from .checks import (
    FLOAT_UINT8_OPERAND,
    RESTRICTED_SCALES_ONLY,
    SOURCE,
    max_op_version,
    min_level,
    not_hybrid,
    op_version,
    type_in,
)


def _kept_dimensions(node: NodeView, target: NnapiTarget) -> str | None:
    return f"keep_num_dims at feature level {target.level}" if node.options.keep_num_dims else None


def _broadcasts(node: NodeView) -> str | None:
    first, second = node.input(0).shape, node.input(1).shape
    return None if len(first) == len(second) and first[:-2] == second[:-2] else f"shapes {list(first)} and {list(second)}"


RULES: Rules[NnapiTarget] = {
    "BATCH_MATMUL": OpRule(
        (
            op_version(2),
            min_level(FEATURE_LEVEL_6),
            type_in(INPUT, ("FLOAT32", "INT32", "INT8")),
            same_type(INPUT, operand(1)),
            rank(INPUT, between(2, 4)),
            check(BROADCAST, "equal batch dimensions", _broadcasts, "give both operands the same batch dimensions")
            .reported_as(UNSUPPORTED_INPUT_TYPE)
            .from_source(SOURCE.with_symbol("IsBroadcastBatchMatMul")),
        )
    ),
    "FULLY_CONNECTED": OpRule(
        (
            max_op_version(5),
            refused_if(
                OUTPUT_TYPE,
                "an output of a type other than INT16",
                lambda node: OUTPUT.tensor(node).type == "INT16",
                "INT16 output",
                "quantize activations to 8 bits instead of 16",
            ),
            not_hybrid(hybrid_with_weights(1)).when(below_level(NNAPI_1_2)),
            FLOAT_UINT8_OPERAND.when(below_level(NNAPI_1_2)),
            RESTRICTED_SCALES_ONLY.when(below_level(NNAPI_1_2)),
            check_for_target(
                FEATURE_LEVEL,
                "feature level 30 for keep_num_dims",
                _kept_dimensions,
                by_reshape("use feature level 30, or restore the dimensions with RESHAPE"),
            )
            .from_source(SOURCE.with_symbol("ExpectMinAndroidSdkVersion"))
            .when(below_level(NNAPI_1_3)),
        )
    ),
}
