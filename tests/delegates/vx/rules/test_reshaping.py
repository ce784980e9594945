"""Rules of reshaping, transposing, and moving blocks, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import reshaping
from tests.support.delegates.vx_cases import (
    AXIS,
    BOOKS,
    COMPUTED_AXIS,
    COMPUTED_PAIR,
    CONSTANT,
    DYNAMIC,
    FLOAT,
    FLOAT_RANK_3,
    FLOAT_SCALAR,
    INT8,
    INT8_UNSCALED,
    INT32,
    INT64,
    LF_5_15_71,
    LF_6_6_3,
    PAIR,
    PERSISTENT_AXIS,
    PERSISTENT_PAIR,
    QUANTIZATION,
    RANK,
    SHAPE,
    TYPE,
    UINT8_UNSCALED,
    UPSTREAM,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, constant

TABLE = VxTable(reshaping.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant
for _op in ("SQUEEZE",):
    accepted(_op, [FLOAT], [FLOAT])

accepted("BATCH_TO_SPACE_ND", [FLOAT, PAIR, PAIR], [FLOAT])
variant("BATCH_TO_SPACE_ND", inputs={1: COMPUTED_PAIR, 2: COMPUTED_PAIR})
variant("BATCH_TO_SPACE_ND", RANK, inputs={0: FLOAT_RANK_3})
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: constant([1])})
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: constant([1])}, outputs=[FLOAT_SCALAR])
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: AXIS})
variant("BATCH_TO_SPACE_ND", DYNAMIC, outputs=[FLOAT_SCALAR])

accepted("SPACE_TO_BATCH_ND", [FLOAT, PAIR, PAIR], [FLOAT])
variant("SPACE_TO_BATCH_ND", RANK, inputs={0: FLOAT_RANK_3})
variant("SPACE_TO_BATCH_ND", DYNAMIC, inputs={1: constant([1])}, outputs=[FLOAT_SCALAR])
variant("SPACE_TO_BATCH_ND", SHAPE, inputs={1: constant([1])})

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], block_size=2)
    variant(_op, TYPE, inputs=[INT32])
    variant(_op, inputs=[INT8], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT8_UNSCALED])
    variant(_op, QUANTIZATION, inputs=[UINT8_UNSCALED])
    variant(_op, QUANTIZATION, inputs=[INT8_UNSCALED, INT32])
    variant(_op, TYPE, inputs=[INT32, INT8_UNSCALED])

accepted("EXPAND_DIMS", [FLOAT, AXIS], [FLOAT])
needs_constant("EXPAND_DIMS", 1, COMPUTED_AXIS, PERSISTENT_AXIS)

for _op in ("TRANSPOSE",):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    variant(_op, inputs={1: COMPUTED_PAIR})
    variant(_op, DYNAMIC, outputs=[FLOAT_SCALAR])

accepted("RESHAPE", [FLOAT, PAIR], [FLOAT])
variant("RESHAPE", inputs=[FLOAT])
variant("RESHAPE", inputs=[FLOAT, COMPUTED_PAIR, PAIR])
variant("RESHAPE", DYNAMIC, outputs=[FLOAT_SCALAR], books=BOOKS)
variant("RESHAPE", CONSTANT, inputs={1: COMPUTED_PAIR}, books=(UPSTREAM, LF_6_6_3))
variant("RESHAPE", CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("RESHAPE", None, inputs={1: COMPUTED_PAIR}, books=(LF_5_15_71,))

accepted("SHAPE", [FLOAT], [INT32])
variant("SHAPE", inputs=[FLOAT_SCALAR])
variant("SHAPE", SHAPE, inputs=[arena("FLOAT32", -1, 4)])
variant("SHAPE", TYPE, outputs=[INT64])


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
