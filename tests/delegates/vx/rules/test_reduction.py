"""Rules of reductions and running sums, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import reduction
from tests.support.delegates.vx_cases import (
    AXIS,
    BOOKS,
    COMPUTED_AXIS,
    DYNAMIC,
    FLOAT,
    FLOAT_SCALAR,
    INT8,
    INT32,
    LF_5_15_71,
    LF_6_6_3,
    PERSISTENT_AXIS,
    TYPE,
    UINT8,
    UPSTREAM,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena

TABLE = VxTable(reduction.RULES)
accepted, variant, needs_constant = TABLE.accepted, TABLE.variant, TABLE.needs_constant

for _op in ("ARG_MAX", "ARG_MIN"):
    accepted(_op, [FLOAT, AXIS], [INT32])
    variant(_op, inputs={1: COMPUTED_AXIS})
    variant(_op, DYNAMIC, inputs={0: FLOAT_SCALAR}, books=BOOKS)
    variant(_op, DYNAMIC, outputs=[arena("INT32")], books=BOOKS)
    variant(_op, inputs={0: INT8}, books=(UPSTREAM, LF_6_6_3))
    variant(_op, TYPE, inputs={0: INT8}, books=(LF_5_15_71,))
    variant(_op, TYPE, inputs={0: INT8}, outputs=[arena("INT32")], books=(LF_5_15_71,))
    variant(_op, None, inputs={0: UINT8}, books=(LF_5_15_71,))

for _op in ("MEAN", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT, AXIS], [FLOAT_SCALAR])
    needs_constant(_op, 1, COMPUTED_AXIS, PERSISTENT_AXIS)


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
