"""Rules of slices, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import slicing
from tests.support.delegates.vx_cases import (
    ATTRIBUTE,
    AXIS,
    COMPUTED_AXIS,
    COMPUTED_PAIR,
    CONSTANT,
    FLOAT,
    FLOAT_BATCH,
    FLOAT_RANK_3,
    FLOAT_SCALAR,
    PAIR,
    PERSISTENT_AXIS,
    PERSISTENT_PAIR,
    SHAPE,
    VxTable,
    assert_verdict,
    name_of,
)

TABLE = VxTable(slicing.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

accepted("REVERSE_V2", [FLOAT, AXIS], [FLOAT])
needs_constant("REVERSE_V2", 1, COMPUTED_AXIS, PERSISTENT_AXIS)

accepted("SLICE", [FLOAT, PAIR, PAIR], [FLOAT])
needs_constant("SLICE", 1, COMPUTED_PAIR, PERSISTENT_PAIR)
needs_constant("SLICE", 2, COMPUTED_PAIR, PERSISTENT_PAIR)
variant("SLICE", SHAPE, outputs=[FLOAT_BATCH])
variant("SLICE", SHAPE, outputs=[FLOAT_SCALAR])
variant("SLICE", inputs={0: FLOAT_RANK_3})
variant("SLICE", CONSTANT, inputs={1: COMPUTED_PAIR}, outputs=[FLOAT_BATCH])

accepted("STRIDED_SLICE", [FLOAT, PAIR, PAIR, PAIR], [FLOAT])
for _position in (1, 2, 3):
    needs_constant("STRIDED_SLICE", _position, COMPUTED_PAIR, PERSISTENT_PAIR)
variant("STRIDED_SLICE", ATTRIBUTE, new_axis_mask=1)
variant("STRIDED_SLICE", ATTRIBUTE, ellipsis_mask=1)
variant("STRIDED_SLICE", begin_mask=1, end_mask=1, shrink_axis_mask=1)
variant("STRIDED_SLICE", CONSTANT, inputs={1: COMPUTED_PAIR}, ellipsis_mask=1)


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
