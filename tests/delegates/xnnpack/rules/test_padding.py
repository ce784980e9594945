"""Rules of padding, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import padding
from tests.support.delegates.xnnpack_rule_cases import (
    BARE_INT8,
    CONSTANT,
    COUNT,
    EMPTY,
    FLOAT,
    INT16,
    QUANTIZATION,
    RANK,
    SCALAR,
    SHAPE,
    TYPE,
    VALUE,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import constant, persistent

TABLE = FamilyCases(padding)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

_PADDINGS = [[0, 0], [1, 1], [1, 1], [0, 0]]
accepted("PAD", [FLOAT, constant(_PADDINGS)], [FLOAT])
variant("PAD", COUNT, inputs=[FLOAT])
variant("PAD", TYPE, inputs={0: INT16})
variant("PAD", QUANTIZATION, inputs={0: BARE_INT8})
variant("PAD", RANK, inputs={0: SCALAR})
variant("PAD", SHAPE, inputs={0: EMPTY})
variant("PAD", TYPE, inputs={1: constant(_PADDINGS, "INT64")})
variant("PAD", SHAPE, inputs={1: constant(_PADDINGS[1:])})
variant("PAD", CONSTANT, inputs={1: persistent(_PADDINGS)})
variant("PAD", TYPE, outputs=[INT16])
variant("PAD", QUANTIZATION, outputs=[BARE_INT8])
variant("PAD", RANK, outputs=[SCALAR])
variant("PAD", SHAPE, outputs=[EMPTY])
variant("PAD", VALUE, inputs={1: constant([[0, 0], [1, -1], [1, 1], [0, 0]])})


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
