"""Operators that move elements."""

from __future__ import annotations

import pytest

from tests.delegates.nnapi.rule_cases import (
    ACTIVATION,
    AXIS,
    AXIS_INT64,
    BIAS,
    BOOL,
    COMPUTED_AXIS,
    COMPUTED_PAIR,
    CONSTANT,
    CONSTANT_TYPE,
    COUNT,
    FLOAT,
    FLOAT_RANK_3,
    FLOAT_RANK_5,
    FLOAT_SCALAR,
    INPUT_TYPE,
    INT8,
    INT16,
    INT32,
    INT64,
    LEVEL,
    LEVEL_6,
    LEVEL_7,
    OUTPUT_TYPE,
    PAIR,
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
    ZERO_SIZE,
    RuleCases,
    assert_failures,
)
from tests.graphs import arena, constant, persistent

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

for _op in ("PAD", "PADV2"):
    accepted(_op, [FLOAT, COMPUTED_PAIR], [FLOAT], LEVEL.below(28), version=2)
    variant(_op, LEVEL.below(28), INPUT_TYPE.below(29), inputs={0: INT8})
    variant(_op, LEVEL.below(28), COUNT.below(29), inputs=[INT8, PAIR, AXIS])
    variant(_op, LEVEL.below(28), COUNT, INPUT_TYPE.below(29), inputs=[INT8])
    variant(_op, VERSION, INPUT_TYPE, LEVEL.below(28), ZERO_SIZE, COUNT.below(29),
            inputs=[arena("INT16", 0), PAIR, AXIS], version=3)  # fmt: skip
    variant(_op, VERSION, INPUT_TYPE, LEVEL.below(28), ZERO_SIZE, COUNT, INPUT_TYPE.below(29),
            inputs=[arena("INT16", 0)], version=3)  # fmt: skip

REFLECT, UNKNOWN_MODE = 0, 2
accepted("MIRROR_PAD", [FLOAT, COMPUTED_PAIR], [FLOAT], LEVEL.below(LEVEL_7), version=2, mode=REFLECT)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), mode=1)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), VALUE, mode=UNKNOWN_MODE)
without_options("MIRROR_PAD", LEVEL.below(LEVEL_7), VALUE)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), COUNT, inputs=[FLOAT, PAIR, AXIS])
variant("MIRROR_PAD", VERSION, LEVEL.below(LEVEL_7), INPUT_TYPE, VALUE, ZERO_SIZE, COUNT,
        inputs=[arena("INT16", 0)], version=3, mode=UNKNOWN_MODE)  # fmt: skip

accepted("REVERSE_V2", [FLOAT, AXIS], [FLOAT], LEVEL.below(LEVEL_7), version=3)
variant("REVERSE_V2", LEVEL.below(LEVEL_7), inputs={1: COMPUTED_AXIS})
variant("REVERSE_V2", VERSION, LEVEL.below(LEVEL_7), INPUT_TYPE, COUNT, inputs=[BOOL], version=4)

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

accepted("STRIDED_SLICE", [FLOAT_RANK_5, COMPUTED_PAIR, PAIR, PAIR], [FLOAT], LEVEL.below(28), version=2)
variant("STRIDED_SLICE", VERSION, INPUT_TYPE, LEVEL.below(28), inputs={0: INT32}, version=3)

accepted("SLICE", [FLOAT_RANK_5, COMPUTED_PAIR, PAIR], [FLOAT], LEVEL.below(29), version=2)
variant("SLICE", LEVEL.below(29), INPUT_TYPE, inputs={2: AXIS_INT64})
variant("SLICE", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, INPUT_TYPE, inputs=[BOOL, AXIS_INT64, AXIS_INT64], version=3)

accepted("TRANSPOSE", [INT64, PAIR], [INT64], LEVEL.below(28), version=2)
variant("TRANSPOSE", LEVEL.below(28), CONSTANT, inputs={1: COMPUTED_PAIR})
variant("TRANSPOSE", LEVEL.below(28), CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("TRANSPOSE", VERSION, LEVEL.below(28), CONSTANT, inputs=[FLOAT], version=3)

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

accepted("GATHER", [FLOAT_RANK_5, COMPUTED_PAIR], [FLOAT], LEVEL.below(29), version=2)
variant("GATHER", LEVEL.below(29), RANK, inputs={1: COMPUTED_AXIS})
variant("GATHER", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, RANK, inputs=[BOOL, arena("INT64")], version=3)

accepted("EMBEDDING_LOOKUP", [INT64, FLOAT], [FLOAT])
variant("EMBEDDING_LOOKUP", VERSION, INPUT_TYPE, inputs={1: INT8}, version=2)

accepted("HASHTABLE_LOOKUP", [INT64, INT64, INT64], [FLOAT, UINT8])
variant("HASHTABLE_LOOKUP", VERSION, OUTPUT_TYPE, outputs={0: INT32}, version=2)


@pytest.mark.parametrize("case", CASES.all, ids=lambda case: case.name)
def test_failures_in_order_at_every_level(case):
    assert_failures(case)
