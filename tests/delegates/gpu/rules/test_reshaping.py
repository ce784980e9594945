"""Rules of the family ``reshaping``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import reshaping
from tests.support.delegates.gpu_table import (
    COUNT,
    FLOAT,
    FLOAT_ONLY,
    FLOATS,
    HALF,
    INT8,
    INT16,
    INT64,
    RANK,
    RANK_5,
    SHAPE_OF_4,
    TYPE,
    UINT8,
    VALUE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, persistent

TABLE = FamilyCases(reshaping)
accepted, variant = TABLE.accepted, TABLE.variant

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], version=2, block_size=2)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, VALUE, block_size=1)
    variant(_op, VALUE, block_size=-1)
variant("SPACE_TO_DEPTH", VERSION, version=3)
variant("DEPTH_TO_SPACE", None, version=3)

accepted("RESHAPE", [FLOAT, SHAPE_OF_4], [FLOAT])
variant("RESHAPE", VERSION, version=2)
variant("RESHAPE", COUNT, inputs={1: persistent([1, 4, 4, 2])})
variant("RESHAPE", COUNT, inputs={0: FLOATS})
accepted("TRANSPOSE", [FLOAT, SHAPE_OF_4], [FLOAT], version=4)
variant("TRANSPOSE", VERSION, version=5)
variant("TRANSPOSE", COUNT, inputs={1: arena("INT32", 4)})

for _op in ("RESHAPE",):
    variant(_op, None, inputs={0: HALF}, outputs=[HALF])
    variant(_op, None, inputs={0: INT8}, outputs=[UINT8])
    variant(_op, TYPE, inputs={0: INT8}, target=FLOAT_ONLY)
    variant(_op, TYPE, outputs=[UINT8], target=FLOAT_ONLY)
    variant(_op, TYPE, inputs={0: INT16})
    variant(_op, TYPE, outputs=[INT64])
    variant(_op, RANK, inputs={0: RANK_5})
    variant(_op, RANK, outputs=[RANK_5])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
