"""Rules of the family ``matrix``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import matrix
from tests.support.delegates.gpu_table import (
    CONSTANT,
    COUNT,
    FLOAT,
    MATRIX,
    RANK,
    SCALAR,
    VALUE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import constant

TABLE = FamilyCases(matrix)
accepted, variant = TABLE.accepted, TABLE.variant


accepted("FULLY_CONNECTED", [MATRIX, constant([[0.0, 0.0]], "FLOAT32"), None], [MATRIX], version=9)
variant("FULLY_CONNECTED", VERSION, version=10)
variant("FULLY_CONNECTED", COUNT, inputs=[])
variant("FULLY_CONNECTED", VALUE, weights_format=1)
variant("FULLY_CONNECTED", COUNT, inputs=[MATRIX, MATRIX, SCALAR])
variant("FULLY_CONNECTED", CONSTANT, inputs={0: constant([[0.0, 0.0]], "FLOAT32")})
variant("FULLY_CONNECTED", None, inputs={0: FLOAT})
variant("FULLY_CONNECTED", RANK, inputs={0: FLOAT}, keep_num_dims=True)

accepted("BATCH_MATMUL", [FLOAT, FLOAT], [FLOAT], version=9)
variant("BATCH_MATMUL", COUNT, inputs=[FLOAT])
variant("BATCH_MATMUL", COUNT, outputs=[FLOAT, FLOAT])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
