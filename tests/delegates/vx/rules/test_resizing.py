"""Rules of resizing images, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import resizing
from tests.support.delegates.vx_cases import (
    COMPUTED_PAIR,
    FLOAT,
    INT8,
    INT8_UNSCALED,
    PAIR,
    PERSISTENT_PAIR,
    QUANTIZATION,
    UINT8_UNSCALED,
    VxTable,
    assert_verdict,
    name_of,
)

TABLE = VxTable(resizing.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

for _op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    needs_constant(_op, 1, COMPUTED_PAIR, PERSISTENT_PAIR)
    variant(_op, inputs={0: INT8}, outputs=[INT8])
    variant(_op, QUANTIZATION, inputs={0: INT8_UNSCALED})
    variant(_op, QUANTIZATION, inputs={0: UINT8_UNSCALED})


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
