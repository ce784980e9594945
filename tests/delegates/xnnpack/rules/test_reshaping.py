"""Rules of reshaping, transposing, and moving blocks, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import reshaping
from tests.support.delegates.xnnpack_rule_cases import (
    ATTRIBUTE,
    BARE_INT8,
    CONSTANT,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    QUANTIZATION,
    RANK,
    RANK_7,
    SCALAR,
    SHAPE,
    TYPE,
    VALUE,
    FamilyCases,
    assert_verdict,
    scaled,
)
from tests.support.graphs import arena, constant, persistent

TABLE = FamilyCases(reshaping)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

accepted("RESHAPE", [FLOAT, constant([8, 4])], [arena("FLOAT32", 8, 4)])
variant("RESHAPE", None, inputs=[FLOAT], new_shape=(8, 4))
variant("RESHAPE", None, inputs={1: constant([[8, 4]])})
variant("RESHAPE", COUNT, inputs=[])
variant("RESHAPE", TYPE, inputs={0: INT16})
variant("RESHAPE", QUANTIZATION, inputs={0: BARE_INT8})
variant("RESHAPE", RANK, inputs={0: RANK_7})
variant("RESHAPE", SHAPE, inputs={0: EMPTY})
variant("RESHAPE", TYPE, outputs=[INT16])
variant("RESHAPE", QUANTIZATION, outputs=[BARE_INT8])
variant("RESHAPE", RANK, outputs=[RANK_7])
variant("RESHAPE", SHAPE, outputs=[EMPTY])
variant("RESHAPE", QUANTIZATION, inputs={0: INT8}, outputs=[scaled(0.25)])
variant("RESHAPE", TYPE, inputs={1: constant([8, 4], "INT64")})
variant("RESHAPE", SHAPE, inputs={1: constant([[8], [4]])})
variant("RESHAPE", CONSTANT, inputs={1: persistent([8, 4])})
variant("RESHAPE", VALUE, inputs={1: constant([-1])})
variant("RESHAPE", VALUE, inputs=[FLOAT], new_shape=(0,))
without_options("RESHAPE", None)

accepted("TRANSPOSE", [FLOAT, constant([0, 2, 1, 3])], [FLOAT])
variant("TRANSPOSE", COUNT, inputs=[FLOAT])
variant("TRANSPOSE", TYPE, inputs={0: INT16})
variant("TRANSPOSE", QUANTIZATION, inputs={0: BARE_INT8})
variant("TRANSPOSE", RANK, inputs={0: SCALAR})
variant("TRANSPOSE", SHAPE, inputs={0: EMPTY})
variant("TRANSPOSE", CONSTANT, inputs={1: persistent([0, 2, 1, 3])})

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], block_size=2)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT])
    variant(_op, TYPE, inputs=[INT16])
    variant(_op, QUANTIZATION, inputs=[BARE_INT8])
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])
    variant(_op, ATTRIBUTE, block_size=1)
variant("SPACE_TO_DEPTH", TYPE, inputs=[FLOAT16])
variant("SPACE_TO_DEPTH", SHAPE, block_size=3)


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
