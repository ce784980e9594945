"""The rules of matrix products, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import matrix
from tests.support.delegates.vx_cases import (
    ATTRIBUTE,
    BOOKS,
    FLOAT,
    HYBRID,
    INT8,
    INT16,
    INT32,
    LF_5_15_71,
    LF_6_6_3,
    TYPE,
    UINT8,
    UPSTREAM,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, quantized

TABLE = VxTable(matrix.RULES)
accepted, variant = TABLE.accepted, TABLE.variant

WEIGHTS = arena("FLOAT32", 8, 3, 3, 2)
INT8_WEIGHTS = quantized(arena("INT8", 8, 3, 3, 2), 0.5)

accepted("FULLY_CONNECTED", [FLOAT, WEIGHTS, None], [FLOAT])
variant("FULLY_CONNECTED", HYBRID, inputs={1: INT8_WEIGHTS})
variant("FULLY_CONNECTED", ATTRIBUTE, weights_format=1)
variant("FULLY_CONNECTED", TYPE, inputs={2: INT16})
variant("FULLY_CONNECTED", TYPE, inputs={0: INT16, 1: INT16})
variant("FULLY_CONNECTED", ATTRIBUTE, inputs={2: INT16}, weights_format=1)

accepted("BATCH_MATMUL", [FLOAT, FLOAT], [FLOAT])
variant("BATCH_MATMUL", adj_x=True)
variant("BATCH_MATMUL", ATTRIBUTE, adj_x=True, adj_y=True, books=BOOKS)
variant("BATCH_MATMUL", TYPE, outputs=[INT32], books=BOOKS)
variant("BATCH_MATMUL", TYPE, inputs=[FLOAT, INT8], outputs=[INT32], books=BOOKS)
variant("BATCH_MATMUL", HYBRID, inputs=[INT8, FLOAT], books=(UPSTREAM, LF_6_6_3))
variant("BATCH_MATMUL", HYBRID, inputs=[FLOAT, INT8])
variant("BATCH_MATMUL", None, inputs=[FLOAT, INT8], books=(LF_6_6_3,))
variant("BATCH_MATMUL", None, inputs=[INT8, INT8], outputs=[INT8], books=(UPSTREAM, LF_6_6_3))
for _inputs in ([FLOAT, INT8], [INT8, FLOAT], [INT8, INT8]):
    variant("BATCH_MATMUL", TYPE, inputs=_inputs, books=(LF_5_15_71,))
variant("BATCH_MATMUL", None, inputs=[UINT8, UINT8], outputs=[UINT8], books=BOOKS)


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
