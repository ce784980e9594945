"""Rules of the family ``filling``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import filling
from tests.support.delegates.gpu_table import (
    CONSTANT,
    COUNT,
    FLOAT,
    INT32,
    SCALAR,
    SHAPE,
    SHAPE_OF_4,
    TYPE,
    VALUE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant

TABLE = FamilyCases(filling)
accepted, variant = TABLE.accepted, TABLE.variant

_ON, _OFF = constant(1.0, "FLOAT32"), constant([0.0], "FLOAT32")

accepted("ONE_HOT", [arena("INT32", 2, 1, 1, 3), constant(4), _ON, _OFF], [FLOAT], axis=-1)
variant("ONE_HOT", VERSION, version=2)
variant("ONE_HOT", COUNT, inputs=[INT32, constant(4), _ON])
variant("ONE_HOT", TYPE, inputs={0: FLOAT})
variant("ONE_HOT", None, axis=3)
variant("ONE_HOT", VALUE, axis=4)
variant("ONE_HOT", VALUE, inputs={0: arena("INT32")}, axis=0)
variant("ONE_HOT", SHAPE, inputs={0: arena("INT32", 1, 2, 1, 3)})
variant("ONE_HOT", SHAPE, inputs={0: arena("INT32", 2, 1, 3)})
variant("ONE_HOT", TYPE, inputs={2: constant(1)})
variant("ONE_HOT", TYPE, inputs={3: constant(1)})
variant("ONE_HOT", CONSTANT, inputs={2: SCALAR})
variant("ONE_HOT", CONSTANT, inputs={3: constant([0.0, 1.0], "FLOAT32")})
variant("ONE_HOT", CONSTANT, inputs={3: constant([[0.0]], "FLOAT32")})

accepted("TILE", [FLOAT, SHAPE_OF_4], [FLOAT], version=9)
variant("TILE", COUNT, inputs={1: arena("INT32", 4)})


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
