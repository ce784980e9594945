"""Rules of pooling, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import pooling
from tests.support.delegates.vx_cases import (
    FLOAT,
    RELU_N1_TO_1,
    VxTable,
    assert_verdict,
    name_of,
)

TABLE = VxTable(pooling.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT])
    variant(_op, filter_width=100, filter_height=100, fused_activation_function=RELU_N1_TO_1)


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
