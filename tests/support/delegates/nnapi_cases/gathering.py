"""Cases of the rules of the family ``gathering``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    AXIS,
    AXIS_INT64,
    BOOL,
    COMPUTED_AXIS,
    COMPUTED_PAIR,
    CONSTANT_TYPE,
    COUNT,
    FLOAT,
    FLOAT_RANK_5,
    INPUT_TYPE,
    INT8,
    INT32,
    INT64,
    LEVEL,
    OUTPUT_TYPE,
    PERSISTENT_AXIS,
    RANK,
    UINT8,
    VALUE_TYPE,
    VERSION,
    RuleCases,
)
from tests.support.graphs import arena

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

SPARSE, DENSE = 1, 2
accepted("LSH_PROJECTION", [FLOAT, FLOAT, FLOAT], [INT32], type=DENSE)
variant("LSH_PROJECTION", VALUE_TYPE.below(29), inputs=[FLOAT, FLOAT], type=SPARSE)
variant("LSH_PROJECTION", VERSION, VALUE_TYPE.below(29), COUNT, type=SPARSE, version=2)
without_options("LSH_PROJECTION")

accepted("TOPK_V2", [FLOAT, AXIS], [FLOAT, INT32], LEVEL.below(29), version=2)
variant("TOPK_V2", LEVEL.below(29), CONSTANT_TYPE, inputs={1: COMPUTED_AXIS})
variant("TOPK_V2", LEVEL.below(29), CONSTANT_TYPE, inputs={1: PERSISTENT_AXIS})
variant("TOPK_V2", VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, inputs=[INT64, AXIS_INT64], version=3)

accepted("GATHER", [FLOAT_RANK_5, COMPUTED_PAIR], [FLOAT], LEVEL.below(29), version=2)
variant("GATHER", LEVEL.below(29), RANK, inputs={1: COMPUTED_AXIS})
variant("GATHER", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, RANK, inputs=[BOOL, arena("INT64")], version=3)

accepted("EMBEDDING_LOOKUP", [INT64, FLOAT], [FLOAT])
variant("EMBEDDING_LOOKUP", VERSION, INPUT_TYPE, inputs={1: INT8}, version=2)

accepted("HASHTABLE_LOOKUP", [INT64, INT64, INT64], [FLOAT, UINT8])
variant("HASHTABLE_LOOKUP", VERSION, OUTPUT_TYPE, outputs={0: INT32}, version=2)
