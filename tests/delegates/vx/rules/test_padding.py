"""Rules of padding, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import padding
from tests.support.delegates.vx_cases import (
    ATTRIBUTE,
    COMPUTED_PAIR,
    DYNAMIC,
    FLOAT,
    FLOAT_SCALAR,
    PAIR,
    VxTable,
    assert_verdict,
    name_of,
)

TABLE = VxTable(padding.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

accepted("MIRROR_PAD", [FLOAT, PAIR], [FLOAT])
variant("MIRROR_PAD", inputs={1: COMPUTED_PAIR}, mode=1)
variant("MIRROR_PAD", DYNAMIC, outputs=[FLOAT_SCALAR])
variant("MIRROR_PAD", ATTRIBUTE, mode=2)
without_options("MIRROR_PAD", ATTRIBUTE)

for _op in ("PAD",):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    variant(_op, inputs={1: COMPUTED_PAIR})
    variant(_op, DYNAMIC, outputs=[FLOAT_SCALAR])


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
