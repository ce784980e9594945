"""Rules of the family ``gathering``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import gathering
from tests.support.delegates.gpu_table import (
    AXIS,
    COUNT,
    FLOAT,
    FLOATS,
    RANK,
    TYPE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant

TABLE = FamilyCases(gathering)
accepted, variant = TABLE.accepted, TABLE.variant


accepted("GATHER", [FLOAT, AXIS], [FLOAT])
variant("GATHER", VERSION, version=2)
variant("GATHER", None, inputs={1: arena("INT32", 2)})
variant("GATHER", COUNT, inputs=[FLOATS, AXIS])
variant("GATHER", RANK, inputs={1: constant([[1]])})
variant("GATHER", TYPE, inputs={1: constant([1], "INT64")})


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
