"""Rules of slices, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import slicing
from tests.support.delegates.xnnpack_rule_cases import (
    ATTRIBUTE,
    BARE_INT8,
    CONSTANT,
    FLOAT,
    INT16,
    QUANTIZATION,
    RANK,
    SHAPE,
    TYPE,
    VALUE,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import constant, persistent

TABLE = FamilyCases(slicing)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

accepted("SLICE", [FLOAT, constant([0, 0, 0, 0]), constant([1, 2, 2, 2], "INT64")], [FLOAT])
for _position in (1, 2):
    variant("SLICE", RANK, inputs={_position: constant([[1, 2, 2, 2]])})
    variant("SLICE", CONSTANT, inputs={_position: persistent([1, 2, 2, 2])})
    variant("SLICE", TYPE, inputs={_position: constant([1, 2, 2, 2], "INT16")})
variant("SLICE", SHAPE, inputs={1: constant([0])})
variant("SLICE", TYPE, inputs={0: INT16})
variant("SLICE", QUANTIZATION, inputs={0: BARE_INT8})
variant("SLICE", TYPE, outputs=[INT16])
variant("SLICE", QUANTIZATION, outputs=[BARE_INT8])
variant("SLICE", VALUE, inputs={2: constant([1, 2, 2, -1])})

_ONES = constant([1, 1, 1, 1])
accepted("STRIDED_SLICE", [FLOAT, constant([0, 0, 0, 0]), constant([1, 2, 2, 2]), _ONES], [FLOAT])
for _name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
    variant("STRIDED_SLICE", ATTRIBUTE, **{_name: 1})
for _position in (1, 2, 3):
    variant("STRIDED_SLICE", RANK, inputs={_position: constant([[1, 1, 1, 1]])})
    variant("STRIDED_SLICE", CONSTANT, inputs={_position: persistent([1, 1, 1, 1])})
    variant("STRIDED_SLICE", TYPE, inputs={_position: constant([1, 1, 1, 1], "INT64")})
    variant("STRIDED_SLICE", SHAPE, inputs={_position: constant([1, 1, 1])})
variant("STRIDED_SLICE", VALUE, inputs={3: constant([1, 2, 1, 1])})
variant("STRIDED_SLICE", TYPE, inputs={0: INT16})
variant("STRIDED_SLICE", QUANTIZATION, inputs={0: BARE_INT8})
variant("STRIDED_SLICE", TYPE, outputs=[INT16])
variant("STRIDED_SLICE", QUANTIZATION, outputs=[BARE_INT8])


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
