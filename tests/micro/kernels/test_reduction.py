"""Cases for reductions and running sums."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.reduction import KERNELS
from tests.support.graphs import arena, constant
from tests.support.micro_cases import (
    COUNT,
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
ROWS, COLUMN, AXIS = floats(2, 4), floats(2), constant([1])
INT64_AXIS, WRONG_AXIS = constant([1], "INT64"), constant([2])
INT16 = [int16(2, 4), AXIS]

for op in ("ARG_MAX", "ARG_MIN"):
    accepted(op, [ROWS, AXIS], [arena("INT32", 2)])
    variant(op, TYPE, inputs={1: INT64_AXIS})
    variant(op, TYPE, outputs=[arena("INT64", 2)])
    variant(op, TYPE, inputs={0: int16(2, 4)})

accepted("CUMSUM", [ROWS, constant([1])], [ROWS])
variant("CUMSUM", COUNT, inputs=[ROWS, AXIS, AXIS])
variant("CUMSUM", TYPE, inputs={0: int16(2, 4)})
variant("CUMSUM", TYPE, inputs={1: INT64_AXIS})
variant("CUMSUM", SHAPE, inputs={1: constant([0, 1])})
variant("CUMSUM", RANK, inputs={0: floats()})
variant("CUMSUM", TYPE, outputs=[int8(2, 4)])
variant("CUMSUM", SHAPE, outputs=[floats(4, 2)])
variant("CUMSUM", VALUE, inputs={1: WRONG_AXIS})

for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
    accepted(op, [ROWS, AXIS], [COLUMN])
    variant(op, VALUE, inputs={1: WRONG_AXIS})
    variant(op, TYPE, inputs={0: arena("INT32", 2, 4)}, outputs=[arena("INT32", 2)])
accepted("REDUCE_ALL", [arena("BOOL", 2, 4), AXIS], [arena("BOOL", 2)])
variant("REDUCE_ALL", TYPE, inputs={0: ROWS})
variant("REDUCE_ALL", VALUE, inputs={1: WRONG_AXIS})
for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL"):
    variant(op, COUNT, outputs=[COLUMN, COLUMN])
    variant(op, TYPE, inputs={1: INT64_AXIS})
for op in ("SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL"):
    variant(op, TYPE, outputs=[arena("INT32", 2)])
for op in ("REDUCE_MAX", "REDUCE_MIN"):
    variant(op, QUANTIZATION, inputs={0: int8(2, 4)}, outputs=[int8(2, scale=1.0)])
    variant(op, QUANTIZATION, inputs={0: int8(2, 4)}, outputs=[int8(2, zero_point=1)])
variant("MEAN", None, inputs={0: int16(2, 4)}, outputs=[int16(2, scale=1.0)])
variant("REDUCE_MAX", TYPE, inputs=INT16, outputs=[int16(2)])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
