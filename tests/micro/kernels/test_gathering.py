"""Cases for reading elements by index."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.gathering import KERNELS
from tests.support.graphs import constant
from tests.support.micro_cases import (
    COUNT,
    OPTION,
    QUANTIZATION,
    RANK,
    SHAPE,
    TYPE,
    VALUE,
    MicroTable,
    floats,
    found_code,
    int8,
    int16,
    unrefused_checks,
)

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
TABLE_OF_ROWS, ROWS = floats(8, 4), floats(3, 4)
LOOKUP = constant([0, 1, 7])
INT8_ROWS = int8(8, 4)

accepted("EMBEDDING_LOOKUP", [LOOKUP, TABLE_OF_ROWS], [ROWS])
variant("EMBEDDING_LOOKUP", COUNT, outputs=[ROWS, ROWS])
variant("EMBEDDING_LOOKUP", RANK, inputs={0: constant([[0, 1, 7]])})
variant("EMBEDDING_LOOKUP", TYPE, inputs={0: constant([0, 1, 7], "INT64")})
variant("EMBEDDING_LOOKUP", RANK, inputs={1: floats(8)})
variant("EMBEDDING_LOOKUP", TYPE, inputs={1: int16(8, 4)})
variant("EMBEDDING_LOOKUP", TYPE, outputs=[int8(3, 4)])
variant("EMBEDDING_LOOKUP", None, inputs={1: INT8_ROWS}, outputs=[int8(3, 4)])
variant("EMBEDDING_LOOKUP", None, inputs={1: INT8_ROWS})
variant("EMBEDDING_LOOKUP", TYPE, inputs={1: INT8_ROWS}, outputs=[int16(3, 4)])
variant("EMBEDDING_LOOKUP", SHAPE, outputs=[floats(12)])
variant("EMBEDDING_LOOKUP", SHAPE, outputs=[floats(2, 4)])
variant("EMBEDDING_LOOKUP", QUANTIZATION, inputs={1: int8(8, 4, zero_point=1)})
variant("EMBEDDING_LOOKUP", VALUE, inputs={0: constant([0, 1, 8])})

accepted("GATHER", [TABLE_OF_ROWS, LOOKUP], [ROWS])
variant("GATHER", COUNT, outputs=[ROWS, ROWS])
variant("GATHER", TYPE, inputs={1: constant([0], "INT64")})
variant("GATHER", TYPE, inputs={0: int16(8, 4)})
variant("GATHER", None, axis=-1)
variant("GATHER", OPTION, axis=2)
variant("GATHER", OPTION, axis=1, batch_dims=1)

accepted("GATHER_ND", [TABLE_OF_ROWS, constant([[0], [7]])], [floats(2, 4)])
variant("GATHER_ND", COUNT, outputs=[ROWS, ROWS])
variant("GATHER_ND", TYPE, inputs={0: int16(8, 4)})
variant("GATHER_ND", TYPE, inputs={1: constant([[0]], "INT64")})
variant("GATHER_ND", RANK, inputs={0: floats()})
variant("GATHER_ND", RANK, inputs={1: constant(0)})
variant("GATHER_ND", SHAPE, inputs={1: constant([[0, 0, 0]])})
variant("GATHER_ND", VALUE, inputs={1: constant([[8]])})


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
