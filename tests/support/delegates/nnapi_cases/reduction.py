"""Cases of the rules of the family ``reduction``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    AXIS,
    AXIS_INT64,
    COMPUTED_AXIS,
    FLOAT,
    FLOAT_RANK_2,
    FLOAT_RANK_5,
    FLOAT_SCALAR,
    INPUT_TYPE,
    INT8,
    INT32,
    INT64,
    LEVEL,
    OUTPUT_TYPE,
    RANK_VALUE,
    SCALAR_OUTPUT,
    VERSION,
    RuleCases,
)
from tests.support.graphs import arena, constant, persistent

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

for _op in ("ARG_MAX", "ARG_MIN"):
    accepted(_op, [FLOAT_RANK_5, AXIS], [INT32], LEVEL.below(29), version=2, output_type=2)
    variant(_op, LEVEL.below(29), inputs={1: COMPUTED_AXIS})
    variant(_op, LEVEL.below(29), inputs={1: AXIS_INT64})
    variant(_op, LEVEL.below(29), INPUT_TYPE, inputs={1: persistent(1, "INT64")})
    variant(_op, LEVEL.below(29), INPUT_TYPE, inputs={1: constant(1 << 31, "INT64")})
    variant(_op, LEVEL.below(29), inputs={1: constant(-(1 << 31), "INT64")})
    variant(_op, LEVEL.below(29), OUTPUT_TYPE, output_type=4)
    without_options(_op, LEVEL.below(29), OUTPUT_TYPE)
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, OUTPUT_TYPE,
            inputs=[INT64, FLOAT_SCALAR], version=3, output_type=4)  # fmt: skip

accepted("MEAN", [FLOAT, COMPUTED_AXIS], [FLOAT_RANK_2], LEVEL.below(28), version=2)
variant("MEAN", LEVEL.below(28), SCALAR_OUTPUT, outputs=[FLOAT_SCALAR])
variant("MEAN", VERSION, LEVEL.below(28), INPUT_TYPE.below(29), SCALAR_OUTPUT, RANK_VALUE,
        inputs={0: arena("INT8", 1, 1, 1, 1, 1)}, outputs=[FLOAT_SCALAR], version=3)  # fmt: skip
variant("MEAN", VERSION, LEVEL.below(28), INPUT_TYPE, SCALAR_OUTPUT, RANK_VALUE,
        inputs={0: arena("INT16", 1, 1, 1, 1, 1)}, outputs=[FLOAT_SCALAR], version=3)  # fmt: skip

accepted("REDUCE_ANY", [INT64, COMPUTED_AXIS], [INT64], LEVEL.below(29), version=2)
variant("REDUCE_ANY", VERSION, LEVEL.below(29), SCALAR_OUTPUT, outputs=[FLOAT_SCALAR], version=3)

for _op in ("REDUCE_MIN", "REDUCE_MAX"):
    accepted(_op, [FLOAT_RANK_5, COMPUTED_AXIS], [FLOAT_SCALAR], LEVEL.below(29), version=2)
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, OUTPUT_TYPE._replace(code="nnapi-rank"),
            inputs={0: COMPUTED_AXIS}, version=3)  # fmt: skip

for _op in ("REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT_RANK_5, COMPUTED_AXIS], [FLOAT_RANK_2], LEVEL.below(29))
    variant(_op, VERSION, LEVEL.below(29), SCALAR_OUTPUT, INPUT_TYPE, inputs={0: INT8}, outputs=[FLOAT_SCALAR], version=2)
