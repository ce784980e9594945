"""Cases of the rules of the family ``joining``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    ACTIVATION,
    AXIS,
    AXIS_INT64,
    COMPUTED_AXIS,
    CONSTANT_TYPE,
    FLOAT,
    FLOAT_RANK_3,
    FLOAT_RANK_5,
    INPUT_TYPE,
    INT8,
    INT16,
    INT64,
    LEVEL,
    LEVEL_6,
    PERSISTENT_AXIS,
    PERSISTENT_PAIR,
    RANK,
    RANK_VALUE,
    RELU,
    UINT8,
    VALUE,
    VALUE_TYPE,
    VERSION,
    WIDE,
    RuleCases,
)
from tests.support.graphs import arena, constant

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

accepted("CONCATENATION", [FLOAT, FLOAT], [FLOAT], version=2)
variant("CONCATENATION", inputs=[UINT8, UINT8, UINT8])
variant("CONCATENATION", VALUE.below(29), inputs=[UINT8, UINT8, WIDE])
variant("CONCATENATION", VALUE.below(29), inputs=[UINT8, UINT8._replace(zero_point=0), WIDE])
variant("CONCATENATION", inputs=[INT8, INT8._replace(scale=0.25)])
variant("CONCATENATION", VERSION, ACTIVATION, RANK, VALUE.below(29),
        inputs=[UINT8._replace(shape=(1,) * 5), WIDE], version=3, fused_activation_function=RELU)  # fmt: skip
variant("CONCATENATION", VERSION, ACTIVATION, RANK, INPUT_TYPE,
        inputs=[arena("INT32", 1, 1, 1, 1, 1)], version=3, fused_activation_function=RELU)  # fmt: skip

accepted("SPLIT", [AXIS, FLOAT], [FLOAT, FLOAT], LEVEL.below(29), version=3)
variant("SPLIT", LEVEL.below(29), CONSTANT_TYPE, inputs={0: COMPUTED_AXIS})
variant("SPLIT", VERSION, LEVEL.below(29), INPUT_TYPE.below(30), CONSTANT_TYPE, inputs=[AXIS_INT64, INT8], version=4)
variant("SPLIT", LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, inputs=[AXIS_INT64, INT64])

accepted("SPLIT_V", [FLOAT, constant([1, 3]), AXIS], [FLOAT, FLOAT], LEVEL.below(30), version=2)
variant("SPLIT_V", LEVEL.below(30), inputs={1: constant([-1, 3])})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, inputs={1: constant([0, 4])})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, inputs={1: constant([4, -1])})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, inputs={1: constant([2, -1]), 2: constant(-1)})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, VALUE_TYPE, inputs={1: constant([0, 4, -1])})
variant("SPLIT_V", LEVEL.below(30), CONSTANT_TYPE, inputs={1: constant([[0, 4]])})
variant("SPLIT_V", LEVEL.below(30), CONSTANT_TYPE, inputs={1: constant([0, 4], "INT64")})
variant("SPLIT_V", LEVEL.below(30), CONSTANT_TYPE, inputs={1: constant([0, 4]), 2: PERSISTENT_AXIS})
variant("SPLIT_V", VERSION, LEVEL.below(30), INPUT_TYPE, CONSTANT_TYPE, CONSTANT_TYPE,
        inputs=[INT64, PERSISTENT_PAIR, AXIS_INT64], version=3)  # fmt: skip

accepted("PACK", [FLOAT, FLOAT], [FLOAT_RANK_5], LEVEL.below(30), version=2, axis=3)
variant("PACK", LEVEL.below(30), VALUE.below(LEVEL_6), axis=-1)
variant("PACK", LEVEL.below(30), VALUE.below(LEVEL_6), axis=4)
variant("PACK", VERSION, LEVEL.below(30), INPUT_TYPE.below(LEVEL_6), VALUE.below(LEVEL_6), inputs=[UINT8], version=3, axis=4)
variant("PACK", LEVEL.below(30), INPUT_TYPE, inputs=[INT16])

accepted("UNPACK", [FLOAT], [FLOAT_RANK_3], LEVEL.below(30), version=2, axis=2)
variant("UNPACK", LEVEL.below(30), VALUE, axis=-1)
variant("UNPACK", LEVEL.below(30), VALUE, axis=3)
variant("UNPACK", LEVEL.below(30), RANK_VALUE, inputs=[FLOAT_RANK_5])
variant("UNPACK", VERSION, LEVEL.below(30), INPUT_TYPE, VALUE, VALUE, inputs=[arena("INT32", 2)], version=3, axis=0)
variant("UNPACK", VERSION, LEVEL.below(30), RANK_VALUE, VALUE, inputs=[FLOAT_RANK_5], version=3, axis=4)
