"""Rules of the family ``padding``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import padding
from tests.support.delegates.gpu_table import COUNT, FLOAT, RANK, SHAPE, VALUE, VERSION, FamilyCases, assert_verdict
from tests.support.graphs import arena, constant

TABLE = FamilyCases(padding)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

_PADDINGS = constant([[0, 0]] * 4)

for _op in ("PAD", "PADV2"):
    accepted(_op, [FLOAT, _PADDINGS], [FLOAT], version=2)
accepted("MIRROR_PAD", [FLOAT, _PADDINGS], [FLOAT], version=2, mode=0)
variant("MIRROR_PAD", VALUE, mode=1)
without_options("MIRROR_PAD", VALUE)
for _op in ("PAD", "PADV2", "MIRROR_PAD"):
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs={1: arena("INT32", 4, 2)})
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, RANK, inputs={1: constant([0, 0])})
    variant(_op, None, inputs={1: constant([[0, 0]] * 3)})
    variant(_op, SHAPE, inputs={1: constant([[0, 0]] * 2)})


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
