"""Cases for filling, gathering and padding."""

from __future__ import annotations

from delegate_sim.micro.kernels.copying import KERNELS
from tests.support.graphs import arena, constant, quantized
from tests.support.micro_cases import (
    BROADCAST,
    CONSTANT,
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
from tests.support.tables import for_each

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

IMAGE, PADDED, PADDINGS = floats(1, 2, 2), floats(1, 4, 3), constant([[0, 0], [1, 1], [0, 1]])
VALUE_OF_TWO = constant([1.0, 2.0], "FLOAT32")
ONE = constant([1.0], "FLOAT32")

accepted("MIRROR_PAD", [IMAGE, PADDINGS], [PADDED])
variant("MIRROR_PAD", RANK, inputs={1: constant([0, 0, 1, 1, 0, 1])})
variant("MIRROR_PAD", SHAPE, inputs={1: constant([[0, 0], [1, 1]])})
variant("MIRROR_PAD", TYPE, outputs=[int16(1, 4, 3)])

for op in ("PAD", "PADV2"):
    accepted(op, [IMAGE, PADDINGS], [PADDED])
    variant(op, None, inputs=[IMAGE, PADDINGS, ONE])
    variant(op, COUNT, inputs=[IMAGE, PADDINGS, ONE, ONE])
    variant(op, TYPE, outputs=[int8(1, 4, 3)])
    variant(op, RANK, inputs={0: floats(1, 1, 1, 1, 1, 2)})
    variant(op, TYPE, inputs=[IMAGE, PADDINGS, constant([1])])
    variant(op, SHAPE, inputs=[IMAGE, PADDINGS, VALUE_OF_TWO])
    variant(op, SHAPE, inputs={1: constant([[0, 0], [1, 1]])})
    variant(op, CONSTANT, inputs={1: arena("INT32", 3, 2)})
    variant(op, SHAPE, outputs=[floats(1, 4, 4)])
    variant(op, TYPE, inputs={0: arena("UINT8", 1, 2, 2)}, outputs=[arena("UINT8", 1, 4, 3)])
    small, large = int8(1, 2, 2), int8(1, 4, 3)
    filling = quantized(constant([1], "INT8"), 0.5)
    variant(op, None, inputs=[small, PADDINGS, filling], outputs=[large])
    variant(op, QUANTIZATION, inputs={0: small}, outputs=[int8(1, 4, 3, zero_point=200)])
    variant(op, QUANTIZATION, inputs=[small, PADDINGS, quantized(constant([1], "INT8"), 1.0)], outputs=[large])
    variant(op, QUANTIZATION, inputs=[small, PADDINGS, quantized(constant([1], "INT8"), 0.5, zero_point=1)], outputs=[large])


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
