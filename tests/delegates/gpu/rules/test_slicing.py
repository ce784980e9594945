"""Rules of the family ``slicing``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import slicing
from tests.support.delegates.gpu_table import COUNT, FLOAT, MATRIX, RANK, RANK_3, VALUE, VERSION, FamilyCases, assert_verdict
from tests.support.graphs import constant

TABLE = FamilyCases(slicing)
accepted, variant = TABLE.accepted, TABLE.variant


accepted("SLICE", [FLOAT, constant([0] * 4), constant([1] * 4)], [FLOAT], version=2)
variant("SLICE", VERSION, version=3)
variant("SLICE", COUNT, inputs=[FLOAT, constant([0] * 4)])
variant("SLICE", RANK, inputs={0: MATRIX})
accepted("STRIDED_SLICE", [RANK_3, constant([0] * 3), constant([1] * 3), constant([1] * 3)], [RANK_3], version=4, begin_mask=7)
variant("STRIDED_SLICE", VERSION, version=5)
for _mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
    variant("STRIDED_SLICE", VALUE, **{_mask: 1})
variant("STRIDED_SLICE", COUNT, inputs=[RANK_3, constant([0] * 3), constant([1] * 3)])
variant("STRIDED_SLICE", RANK, inputs={0: MATRIX})


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
