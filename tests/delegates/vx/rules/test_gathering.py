"""Rules of gathering, lookups and searches, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import gathering
from tests.support.delegates.vx_cases import (
    COMPUTED_PAIR,
    FLOAT,
    HYBRID,
    INT8,
    INT32,
    PAIR,
    PERSISTENT_PAIR,
    UINT8,
    VxTable,
    assert_verdict,
    name_of,
)

TABLE = VxTable(gathering.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

for _op in ("GATHER", "GATHER_ND"):
    accepted(_op, [FLOAT, INT32], [FLOAT])
accepted("HASHTABLE_LOOKUP", [FLOAT, INT32, FLOAT], [FLOAT, FLOAT])

accepted("EMBEDDING_LOOKUP", [INT32, UINT8], [UINT8])
variant("EMBEDDING_LOOKUP", HYBRID, outputs=[INT8])
variant("EMBEDDING_LOOKUP", inputs={1: INT8}, outputs=[UINT8])

accepted("SCATTER_ND", [INT32, FLOAT, PAIR], [FLOAT])
variant("SCATTER_ND", inputs={0: COMPUTED_PAIR})
needs_constant("SCATTER_ND", 2, COMPUTED_PAIR, PERSISTENT_PAIR)


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
