"""Rules of the family ``reduction``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import reduction
from tests.support.delegates.gpu_table import (
    AXIS,
    CONSTANT,
    COUNT,
    FLOAT,
    FLOATS,
    HALF,
    INT8,
    TYPE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant

TABLE = FamilyCases(reduction)
accepted, variant = TABLE.accepted, TABLE.variant

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT, AXIS], [FLOAT], version=9)
    variant(_op, COUNT, inputs={1: arena("INT32", 1)})
    variant(_op, COUNT, inputs={0: FLOATS})
    variant(_op, CONSTANT, inputs=[AXIS, FLOAT])
    variant(_op, CONSTANT, inputs={1: constant([1], "INT64")})
accepted("CUMSUM", [FLOAT, constant(1)], [FLOAT])
variant("CUMSUM", VERSION, version=2)
variant("CUMSUM", COUNT, inputs=[FLOAT])
variant("CUMSUM", TYPE, inputs={0: INT8}, outputs=[INT8])
variant("CUMSUM", TYPE, outputs=[HALF])
variant("CUMSUM", CONSTANT, inputs={1: arena("INT32")})


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
