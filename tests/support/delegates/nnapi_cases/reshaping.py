"""Cases of the rules of the family ``reshaping``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    AXIS,
    AXIS_INT64,
    COMPUTED_PAIR,
    CONSTANT,
    CONSTANT_TYPE,
    FLOAT,
    FLOAT_RANK_5,
    INPUT_TYPE,
    INT16,
    INT32,
    INT64,
    LEVEL,
    LEVEL_6,
    PAIR,
    PERSISTENT_AXIS,
    PERSISTENT_PAIR,
    RANK,
    VALUE,
    VERSION,
    RuleCases,
)
from tests.support.graphs import arena, constant, persistent

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

accepted("RESHAPE", [FLOAT, PAIR], [FLOAT])
variant("RESHAPE", CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("RESHAPE", INPUT_TYPE.below(LEVEL_6), inputs={0: INT32})
variant("RESHAPE", inputs=[FLOAT], new_shape=(4,))
variant("RESHAPE", RANK, inputs=[FLOAT])
variant("RESHAPE", RANK, inputs=[FLOAT], new_shape=(0,))
variant("RESHAPE", inputs=[FLOAT], new_shape=(0, 0))
variant(
    "RESHAPE", VERSION, INPUT_TYPE, RANK, RANK, CONSTANT,
    inputs=[arena("INT64", 1, 1, 1, 1, 1), COMPUTED_PAIR], outputs=[FLOAT_RANK_5], version=2,
)  # fmt: skip
variant("RESHAPE", VERSION, RANK, RANK, RANK, inputs=[FLOAT_RANK_5], outputs=[FLOAT_RANK_5], version=2)

accepted("SQUEEZE", [INT64], [INT64], LEVEL.below(28), squeeze_dims=(1,))
variant("SQUEEZE", LEVEL.below(28), VALUE.since(28).below(29), squeeze_dims=())
variant("SQUEEZE", VERSION, LEVEL.below(28), VALUE.since(28).below(29), squeeze_dims=(), version=2)

accepted("EXPAND_DIMS", [FLOAT, AXIS], [FLOAT_RANK_5], LEVEL.below(29))
variant("EXPAND_DIMS", LEVEL.below(29), CONSTANT_TYPE, inputs={1: PERSISTENT_AXIS})
variant("EXPAND_DIMS", VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, inputs=[INT16, AXIS_INT64], version=2)

accepted("SPACE_TO_BATCH_ND", [INT64, PAIR, PAIR], [INT64], LEVEL.below(28), version=2)
variant("SPACE_TO_BATCH_ND", VERSION, LEVEL.below(28), version=3)

_NO_CROPS = constant([[0, 0], [0, 0]])
accepted("BATCH_TO_SPACE_ND", [INT64, PAIR, _NO_CROPS], [INT64], LEVEL.below(28), version=2)
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), inputs={2: persistent([[0, 0], [0, 0]])})
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), VALUE, inputs={2: constant([[0, 0], [0, 1]])})
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), VALUE, inputs={2: constant([[0, 0]])})
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), VALUE, inputs={2: constant([[0, 0]] * 3)})
variant("BATCH_TO_SPACE_ND", VERSION, LEVEL.below(28), VALUE, inputs={2: arena("INT32", 2, 2)}, version=3)

accepted("SPACE_TO_DEPTH", [FLOAT], [FLOAT], version=2)
variant("SPACE_TO_DEPTH", VERSION, INPUT_TYPE, inputs=[INT32], version=3)

accepted("DEPTH_TO_SPACE", [FLOAT], [FLOAT], version=9)
variant("DEPTH_TO_SPACE", INPUT_TYPE, inputs=[INT32])

accepted("TRANSPOSE", [INT64, PAIR], [INT64], LEVEL.below(28), version=2)
variant("TRANSPOSE", LEVEL.below(28), CONSTANT, inputs={1: COMPUTED_PAIR})
variant("TRANSPOSE", LEVEL.below(28), CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("TRANSPOSE", VERSION, LEVEL.below(28), CONSTANT, inputs=[FLOAT], version=3)
