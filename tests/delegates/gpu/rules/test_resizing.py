"""Rules of the family ``resizing``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import resizing
from tests.support.delegates.gpu_table import (
    COUNT,
    FLOAT,
    VALUE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant

TABLE = FamilyCases(resizing)
accepted, variant = TABLE.accepted, TABLE.variant

for _op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(_op, [FLOAT, constant([8, 8])], [FLOAT], version=3, align_corners=True)
    variant(_op, VERSION, version=4)
    variant(_op, COUNT, inputs={1: arena("INT32", 2)})
variant("RESIZE_BILINEAR", VALUE, half_pixel_centers=True)
variant("RESIZE_NEAREST_NEIGHBOR", None, half_pixel_centers=True)


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
