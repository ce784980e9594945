"""Rules of reductions and running sums, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.xnnpack.rules import reduction
from tests.support.delegates.xnnpack_rule_cases import (
    BARE_INT8,
    CONSTANT,
    COUNT,
    FLOAT,
    INT16,
    QUANTIZATION,
    RANK,
    SCALAR,
    SHAPE,
    TYPE,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import constant, persistent

TABLE = FamilyCases(reduction)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM"):
    accepted(_op, [FLOAT, constant([1, 2])], [FLOAT])
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, TYPE, inputs={0: INT16})
    variant(_op, QUANTIZATION, inputs={0: BARE_INT8})
    variant(_op, TYPE, inputs={1: constant([1], "INT64")})
    variant(_op, RANK, inputs={1: constant([[1]])})
    variant(_op, CONSTANT, inputs={1: persistent([1])})
    variant(_op, SHAPE, inputs={1: constant(np.empty(0))})
    variant(_op, SHAPE, inputs=[SCALAR, constant([0])])
    variant(_op, SHAPE, inputs={1: constant([0] * 7)})
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
