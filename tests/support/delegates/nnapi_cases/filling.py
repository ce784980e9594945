"""Cases of the rules of the family ``filling``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    BIAS,
    BOOL,
    COMPUTED_PAIR,
    CONSTANT_TYPE,
    FLOAT,
    FLOAT_RANK_5,
    FLOAT_SCALAR,
    INPUT_TYPE,
    LEVEL,
    PAIR,
    PERSISTENT_PAIR,
    VALUE,
    VALUE_TYPE,
    VERSION,
    RuleCases,
)
from tests.support.graphs import arena, constant

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

accepted("TILE", [FLOAT_RANK_5, COMPUTED_PAIR], [FLOAT], LEVEL.below(29))
variant("TILE", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, inputs=[BOOL, constant([1, 2], "INT64")], version=2)

accepted("FILL", [PAIR, FLOAT_SCALAR], [FLOAT], LEVEL.below(30))
variant("FILL", LEVEL.below(30), inputs=[constant([(1 << 31) - 1], "INT64"), constant(-(1 << 31), "INT64")])
variant("FILL", LEVEL.below(30), VALUE, inputs={0: constant([1, 1 << 31], "INT64")})
variant("FILL", LEVEL.below(30), VALUE, inputs={0: constant([])})
variant("FILL", LEVEL.below(30), VALUE_TYPE, inputs={1: constant(-(1 << 31) - 1, "INT64")})
variant("FILL", LEVEL.below(30), inputs={1: arena("INT64")})
variant("FILL", LEVEL.below(30), CONSTANT_TYPE, inputs={0: PERSISTENT_PAIR})
variant("FILL", VERSION, LEVEL.below(30), CONSTANT_TYPE, INPUT_TYPE, INPUT_TYPE, inputs=[BIAS, BOOL], version=2)
variant("FILL", VERSION, LEVEL.below(30), VALUE, VALUE_TYPE,
        inputs=[constant([1 << 31], "INT64"), constant(1 << 31, "INT64")], version=2)  # fmt: skip
variant("FILL", VERSION, LEVEL.below(30), INPUT_TYPE, VALUE, INPUT_TYPE, inputs=[constant([], "FLOAT32"), BOOL], version=2)
variant("FILL", LEVEL.below(30), VALUE, INPUT_TYPE, inputs=[constant([1 << 31], "INT64"), BOOL])
