"""Rules of the family ``joining``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import joining
from tests.support.delegates.gpu_table import BOOL, FLOAT, FLOATS, RANK, VERSION, FamilyCases, assert_verdict
from tests.support.graphs import constant, persistent

TABLE = FamilyCases(joining)
accepted, variant = TABLE.accepted, TABLE.variant


accepted("CONCATENATION", [FLOAT, FLOATS, BOOL._replace(type="FLOAT16")], [FLOAT], version=2)
variant("CONCATENATION", VERSION, version=3)

for _op in ("PACK", "SPLIT", "SPLIT_V", "UNPACK"):
    accepted(_op, [FLOAT, FLOAT, FLOAT], [FLOAT, FLOAT], version=9)
variant("PACK", None, inputs=[constant([1], "INT64"), persistent([1], "INT64"), None, FLOAT])
variant("PACK", RANK, inputs=[FLOAT, constant([[[[[1]]]]])])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
