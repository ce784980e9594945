"""Cases for broadcasting and filling."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.filling import KERNELS
from tests.support.graphs import arena, constant
from tests.support.micro_cases import (
    BROADCAST,
    CONSTANT,
    COUNT,
    RANK,
    SHAPE,
    TYPE,
    MicroTable,
    floats,
    found_code,
    int8,
    int16,
    unrefused_checks,
)

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
SHAPES = [arena("INT32", 2), arena("INT32", 2)]

accepted("BROADCAST_ARGS", SHAPES, [arena("INT32", 2)])
variant("BROADCAST_ARGS", COUNT, inputs=[*SHAPES, *SHAPES])
variant("BROADCAST_ARGS", TYPE, inputs={0: floats(2)})
variant("BROADCAST_ARGS", TYPE, inputs={1: arena("INT64", 2)})
variant("BROADCAST_ARGS", TYPE, outputs=[arena("INT64", 2)])
variant("BROADCAST_ARGS", RANK, inputs={0: arena("INT32", 1, 2)})
variant("BROADCAST_ARGS", RANK, inputs={1: arena("INT32", 1, 2)})
variant("BROADCAST_ARGS", RANK, outputs=[arena("INT32", 1, 2)])

accepted("BROADCAST_TO", [floats(1, 4), constant([3, 4])], [floats(3, 4)])
variant("BROADCAST_TO", COUNT, outputs=[floats(3, 4)] * 2)
variant("BROADCAST_TO", RANK, inputs={0: floats(1, 1, 1, 1, 1, 4)})
variant("BROADCAST_TO", TYPE, inputs={1: constant([3, 4], "INT16")})
variant("BROADCAST_TO", TYPE, outputs=[int8(3, 4)])
variant("BROADCAST_TO", CONSTANT, inputs={1: arena("INT32", 2)})
variant("BROADCAST_TO", RANK, inputs={1: constant([[3, 4]])})
variant("BROADCAST_TO", SHAPE, inputs={1: constant([2, 3, 4])})
variant("BROADCAST_TO", SHAPE, inputs={1: constant([4])}, outputs=[floats(4)])
variant("BROADCAST_TO", BROADCAST, inputs={1: constant([5, 4])})
variant("BROADCAST_TO", BROADCAST, inputs={0: floats(2, 4)})

accepted("FILL", [constant([2, 3]), floats()], [floats(2, 3)])
variant("FILL", RANK, inputs={1: floats(1)})
variant("FILL", TYPE, outputs=[int8(2, 3)])
variant("FILL", CONSTANT, inputs={0: arena("INT32", 2)})
variant("FILL", RANK, inputs={0: constant([[2, 3]])})
variant("FILL", TYPE, inputs={0: constant([2.0, 3.0], "FLOAT32")})
variant("FILL", SHAPE, outputs=[floats(3, 2)])
variant("FILL", TYPE, inputs={1: int16()}, outputs=[int16(2, 3)])

accepted("ZEROS_LIKE", [floats(4)], [floats(4)])
variant("ZEROS_LIKE", COUNT, outputs=[floats(4)] * 2)
variant("ZEROS_LIKE", TYPE, inputs=[int16(4)])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
