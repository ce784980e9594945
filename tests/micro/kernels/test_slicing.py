"""Cases for reading, writing or reversing ranges."""

from __future__ import annotations

from delegate_sim.micro.kernels.slicing import KERNELS
from tests.support.graphs import arena, constant
from tests.support.micro_cases import (
    CONSTANT,
    COUNT,
    RANK,
    SHAPE,
    TYPE,
    VALUE,
    MicroTable,
    floats,
    found_code,
    int8,
    unrefused_checks,
)
from tests.support.tables import for_each

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
ROWS, BEGIN, END, STRIDES = floats(2, 4), constant([0, 1]), constant([2, 3]), constant([1, 1])
START = arena("INT32", 2)

accepted("DYNAMIC_UPDATE_SLICE", [ROWS, floats(1, 4), START], [ROWS])
variant("DYNAMIC_UPDATE_SLICE", COUNT, outputs=[ROWS, ROWS])
variant("DYNAMIC_UPDATE_SLICE", TYPE, inputs={1: int8(1, 4)})
variant("DYNAMIC_UPDATE_SLICE", TYPE, inputs={2: floats(2)})
variant("DYNAMIC_UPDATE_SLICE", RANK, inputs={2: arena("INT32", 1, 2)})
variant("DYNAMIC_UPDATE_SLICE", SHAPE, inputs={2: arena("INT32", 3)})
variant("DYNAMIC_UPDATE_SLICE", SHAPE, inputs={1: floats(3, 4)})
variant("DYNAMIC_UPDATE_SLICE", TYPE, inputs={0: arena("UINT8", 2, 4), 1: arena("UINT8", 1, 4)})

accepted("REVERSE_V2", [ROWS, constant([0, 1])], [ROWS])
variant("REVERSE_V2", COUNT, outputs=[ROWS, ROWS])
variant("REVERSE_V2", RANK, inputs={1: constant(1)})
variant("REVERSE_V2", RANK, inputs={0: floats(1, 1, 1, 1, 1, 1, 2)})
variant("REVERSE_V2", SHAPE, inputs={1: constant([0, 1, 0])})
variant("REVERSE_V2", TYPE, inputs={0: arena("FLOAT16", 2, 4)})
variant("REVERSE_V2", TYPE, inputs={1: constant([0], "INT64")})
variant("REVERSE_V2", TYPE, outputs=[int8(2, 4)])
variant("REVERSE_V2", VALUE, inputs={1: constant([2])})
variant("REVERSE_V2", VALUE, inputs=[floats(2, 4, 4), constant([0, 2])])

accepted("SLICE", [ROWS, BEGIN, constant([2, 2])], [floats(2, 2)])
variant("SLICE", COUNT, outputs=[ROWS, ROWS])
variant("SLICE", TYPE, inputs={1: constant([0, 1], "INT16")})
variant("SLICE", TYPE, inputs={0: arena("UINT8", 2, 4)})
OPEN = floats(1, 1)._replace(shape_signature=(-1, -1))
variant("SLICE", CONSTANT, inputs={2: START}, outputs=[OPEN])
variant("SLICE", None, inputs={2: START})
variant("SLICE", None, inputs={1: START}, outputs=[OPEN])

accepted("STRIDED_SLICE", [ROWS, BEGIN, END, STRIDES], [floats(2, 2)])
variant("STRIDED_SLICE", COUNT, outputs=[ROWS, ROWS])
variant("STRIDED_SLICE", RANK, inputs={0: floats(1, 1, 1, 2, 4)})
for position in (1, 2, 3):
    variant("STRIDED_SLICE", CONSTANT, inputs={position: arena("INT32", 2)})
    variant("STRIDED_SLICE", SHAPE, inputs={position: constant([1])})
variant("STRIDED_SLICE", VALUE, inputs={3: constant([1, 0])})
variant("STRIDED_SLICE", SHAPE, outputs=[floats(2, 3)])
variant(
    "STRIDED_SLICE",
    None,
    inputs={1: constant([-1, 3]), 2: constant([0, 0]), 3: constant([1, -2])},
    outputs=[floats(2)],
    shrink_axis_mask=1,
)
variant("STRIDED_SLICE", None, outputs=[floats(2, 4)], begin_mask=2, end_mask=2)
variant("STRIDED_SLICE", TYPE, outputs=[arena("UINT8", 2, 2)])


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
