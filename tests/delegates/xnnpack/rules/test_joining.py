"""Rules of joining and splitting, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import joining
from tests.support.delegates.xnnpack_rule_cases import (
    ATTRIBUTE,
    BARE_INT8,
    CONSTANT,
    COUNT,
    FLOAT,
    INT8,
    INT16,
    QUANTIZATION,
    TYPE,
    UINT8,
    FamilyCases,
    assert_verdict,
    scaled,
)
from tests.support.graphs import constant, persistent

TABLE = FamilyCases(joining)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

accepted("CONCATENATION", [FLOAT, FLOAT], [FLOAT], axis=3)
variant("CONCATENATION", None, inputs=[FLOAT] * 5, axis=-1)
variant("CONCATENATION", COUNT, inputs=[FLOAT] * 6)
variant("CONCATENATION", TYPE, outputs=[INT16])
variant("CONCATENATION", QUANTIZATION, outputs=[BARE_INT8])
variant("CONCATENATION", ATTRIBUTE, axis=4)
variant("CONCATENATION", QUANTIZATION, inputs=[UINT8, scaled(0.25, "UINT8")], outputs=[UINT8])
variant("CONCATENATION", None, inputs=[INT8, scaled(0.25)], outputs=[INT8])
variant("CONCATENATION", TYPE, inputs={1: INT16})
variant("CONCATENATION", QUANTIZATION, inputs={1: BARE_INT8})

accepted("SPLIT", [constant(3), FLOAT], [FLOAT, FLOAT], num_splits=2)
variant("SPLIT", ATTRIBUTE, num_splits=3)
variant("SPLIT", COUNT, outputs=[FLOAT] * 5, num_splits=5)
variant("SPLIT", TYPE, inputs={0: constant(3, "INT64")})
variant("SPLIT", CONSTANT, inputs={0: persistent(3)})
variant("SPLIT", TYPE, inputs={1: INT16})
variant("SPLIT", QUANTIZATION, inputs={1: BARE_INT8})
variant("SPLIT", TYPE, outputs={1: INT16})
variant("SPLIT", QUANTIZATION, outputs={1: BARE_INT8})


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
