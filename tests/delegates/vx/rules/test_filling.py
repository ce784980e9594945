"""Rules of filling, repeating and counting, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import filling
from tests.support.delegates.vx_cases import (
    AXIS,
    BOOL,
    COMPUTED_AXIS,
    FLOAT,
    FLOAT_EMPTY,
    FLOAT_RANK_7,
    FLOAT_SCALAR,
    INT32,
    INT64,
    PAIR,
    PERSISTENT_AXIS,
    RANK,
    SHAPE,
    STRING,
    TYPE,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena

TABLE = VxTable(filling.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

accepted("BROADCAST_TO", [FLOAT, PAIR], [FLOAT])
variant("BROADCAST_TO", inputs=[INT64, arena("INT64", 4)])
variant("BROADCAST_TO", TYPE, inputs=[STRING, PAIR])
variant("BROADCAST_TO", TYPE, inputs=[INT64, PAIR], outputs=[INT64])
variant("BROADCAST_TO", RANK, inputs={0: FLOAT_RANK_7})
variant("BROADCAST_TO", SHAPE, inputs={0: FLOAT_EMPTY})
variant("BROADCAST_TO", SHAPE, outputs=[FLOAT_EMPTY])

accepted("ONE_HOT", [INT32, AXIS, FLOAT_SCALAR, FLOAT_SCALAR], [FLOAT])
needs_constant("ONE_HOT", 1, COMPUTED_AXIS, PERSISTENT_AXIS)
variant("ONE_HOT", TYPE, outputs=[BOOL])


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
