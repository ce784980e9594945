"""Cases of the rules of the family ``slicing``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    AXIS,
    AXIS_INT64,
    BOOL,
    COMPUTED_AXIS,
    COMPUTED_PAIR,
    COUNT,
    FLOAT,
    FLOAT_RANK_5,
    INPUT_TYPE,
    INT32,
    LEVEL,
    LEVEL_7,
    PAIR,
    VERSION,
    RuleCases,
)

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

accepted("REVERSE_V2", [FLOAT, AXIS], [FLOAT], LEVEL.below(LEVEL_7), version=3)
variant("REVERSE_V2", LEVEL.below(LEVEL_7), inputs={1: COMPUTED_AXIS})
variant("REVERSE_V2", VERSION, LEVEL.below(LEVEL_7), INPUT_TYPE, COUNT, inputs=[BOOL], version=4)

accepted("STRIDED_SLICE", [FLOAT_RANK_5, COMPUTED_PAIR, PAIR, PAIR], [FLOAT], LEVEL.below(28), version=2)
variant("STRIDED_SLICE", VERSION, INPUT_TYPE, LEVEL.below(28), inputs={0: INT32}, version=3)

accepted("SLICE", [FLOAT_RANK_5, COMPUTED_PAIR, PAIR], [FLOAT], LEVEL.below(29), version=2)
variant("SLICE", LEVEL.below(29), INPUT_TYPE, inputs={2: AXIS_INT64})
variant("SLICE", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, INPUT_TYPE, inputs=[BOOL, AXIS_INT64, AXIS_INT64], version=3)
