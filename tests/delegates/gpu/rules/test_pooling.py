"""Rules of the family ``pooling``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import pooling
from tests.support.delegates.gpu_table import (
    ACTIVATION,
    COUNT,
    FLOAT,
    FLOATS,
    SIGN_BIT,
    VALUE,
    VERSION,
    FamilyCases,
    assert_verdict,
)

TABLE = FamilyCases(pooling)
accepted, variant = TABLE.accepted, TABLE.variant

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT], version=2, filter_height=2, filter_width=2, stride_h=1, stride_w=1)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, VALUE, filter_width=0)
    variant(_op, VALUE, stride_h=0)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
