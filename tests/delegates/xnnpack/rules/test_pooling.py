"""Rules of pooling, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import pooling
from tests.support.delegates.xnnpack_rule_cases import (
    ACTIVATION,
    ATTRIBUTE,
    BARE_INT8,
    COUNT,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    QUANTIZATION,
    TANH,
    TYPE,
    FamilyCases,
    assert_verdict,
)

TABLE = FamilyCases(pooling)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT], stride_w=2, stride_h=2, filter_width=2, filter_height=2)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT])
    variant(_op, TYPE, inputs=[INT16])
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, ATTRIBUTE, stride_w=0)
    variant(_op, ATTRIBUTE, filter_height=0)
    variant(_op, ATTRIBUTE, stride_w=3)
    variant(_op, ATTRIBUTE, filter_width=1, filter_height=1, stride_w=1, stride_h=2)
    variant(_op, None, filter_width=1, filter_height=1, stride_w=1, stride_h=1)
    variant(_op, ATTRIBUTE, padding=2)
    variant(_op, ACTIVATION, fused_activation_function=TANH)
variant("AVERAGE_POOL_2D", TYPE, inputs=[INT8], outputs=[INT8])
variant("MAX_POOL_2D", None, inputs=[INT8], outputs=[INT8])
variant("MAX_POOL_2D", TYPE, inputs=[FLOAT16])
variant("MAX_POOL_2D", QUANTIZATION, inputs=[BARE_INT8])
variant("MAX_POOL_2D", QUANTIZATION, outputs=[BARE_INT8])


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
