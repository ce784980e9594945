"""Cases for joining, splitting, and other shapes and orders of dimensions."""

from __future__ import annotations

from delegate_sim.micro.kernels.reshaping import KERNELS
from tests.support.graphs import arena, constant
from tests.support.micro_cases import (
    ACTIVATION,
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
IMAGE, BLOCKS = floats(1, 4, 4, 8), constant([2, 2])
CROPS = constant([[0, 0], [0, 0]])

for op in ("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"):
    accepted(op, [floats(4, 2, 2, 8), BLOCKS, CROPS], [IMAGE])
    variant(op, COUNT, outputs=[IMAGE, IMAGE])
    variant(op, RANK, inputs={0: floats(4, 8)})
    variant(op, RANK, outputs=[floats(4, 8)])
    variant(op, TYPE, outputs=[int8(1, 4, 4, 8)])
    variant(op, TYPE, inputs={0: int16(4, 2, 2, 8)}, outputs=[int16(1, 4, 4, 8)])

for op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(op, [IMAGE], [floats(1, 8, 8, 2)], block_size=2)
    variant(op, COUNT, outputs=[IMAGE, IMAGE])
    variant(op, RANK, inputs=[floats(4, 4, 8)])
    variant(op, TYPE, inputs=[int16(1, 4, 4, 8)], outputs=[int16(1, 8, 8, 2)])
    variant(op, TYPE, outputs=[int8(1, 8, 8, 2)])
    variant(op, OPTION, block_size=0)
    variant(op, SHAPE, block_size=3)

accepted("EXPAND_DIMS", [floats(2, 4), constant([-1])], [floats(2, 4, 1)])
variant("EXPAND_DIMS", COUNT, outputs=[IMAGE, IMAGE])
variant("EXPAND_DIMS", CONSTANT, inputs={1: arena("INT32", 1)})
variant("EXPAND_DIMS", SHAPE, inputs={1: constant([[1]])})
variant("EXPAND_DIMS", TYPE, inputs={1: constant([1], "INT64")})
variant("EXPAND_DIMS", SHAPE, inputs={1: constant([0])})
variant("EXPAND_DIMS", TYPE, inputs={0: arena("INT32", 2, 4)})

accepted("RESHAPE", [IMAGE, constant([1, 128])], [floats(1, 128)])
variant("RESHAPE", None, inputs=[IMAGE], outputs=[floats(-1, 64)])
variant("RESHAPE", COUNT, inputs=[IMAGE, constant([1, 128]), IMAGE])
variant("RESHAPE", TYPE, outputs=[int8(1, 128)])
variant("RESHAPE", SHAPE, outputs=[floats(1, 127)])

accepted("SHAPE", [IMAGE], [arena("INT32", 4)])
variant("SHAPE", COUNT, inputs=[IMAGE, IMAGE])
variant("SHAPE", TYPE, outputs=[arena("INT64", 4)])

accepted("SQUEEZE", [floats(1, 4, 1)], [floats(4)])
variant("SQUEEZE", COUNT, outputs=[floats(4)] * 2)
variant("SQUEEZE", RANK, inputs=[floats(1, 1, 1, 1, 1, 1, 1, 1, 4)])
variant("SQUEEZE", None, squeeze_dims=[-1], outputs=[floats(1, 4)])
variant("SQUEEZE", SHAPE, squeeze_dims=[1])
variant("SQUEEZE", SHAPE, outputs=[floats(3)])
variant("SQUEEZE", SHAPE, outputs=[floats(8)])

accepted("TRANSPOSE", [floats(2, 4), constant([1, 0])], [floats(4, 2)])
variant("TRANSPOSE", COUNT, outputs=[IMAGE, IMAGE])
variant("TRANSPOSE", RANK, inputs={0: floats(1, 1, 1, 1, 2, 4)})
variant("TRANSPOSE", TYPE, outputs=[int8(4, 2)])
variant("TRANSPOSE", CONSTANT, inputs={1: arena("INT32", 2)})
variant("TRANSPOSE", RANK, inputs={1: constant([[1, 0]])})
variant("TRANSPOSE", SHAPE, inputs={1: constant([0, 1, 2])})
variant("TRANSPOSE", VALUE, inputs={1: constant([0, 2])})
variant("TRANSPOSE", TYPE, inputs={0: arena("INT32", 2, 4)}, outputs=[arena("INT32", 4, 2)])

ROW, WIDE = floats(1, 4), floats(1, 8)
UINT8 = arena("UINT8", 1, 4)

accepted("CONCATENATION", [ROW, ROW], [WIDE], axis=1)
variant("CONCATENATION", ACTIVATION, fused_activation_function=1)
variant("CONCATENATION", TYPE, inputs=[UINT8] * 2, outputs=[UINT8])
variant("CONCATENATION", TYPE, outputs=[int8(1, 8)])
variant("CONCATENATION", None, inputs=[ROW] * 10)
variant("CONCATENATION", COUNT, inputs=[ROW] * 11)
variant("CONCATENATION", TYPE, inputs=[ROW, int8(1, 4)])
variant("CONCATENATION", RANK, inputs=[floats(1, 1, 1, 1, 1, 1, 4)] * 2)
variant("CONCATENATION", None, inputs=[int8(1, 4)] * 2, outputs=[int8(1, 8)])
variant("CONCATENATION", QUANTIZATION, inputs=[int8(1, 4), int8(1, 4, scale=1.0)], outputs=[int8(1, 8)])
variant("CONCATENATION", QUANTIZATION, inputs=[int8(1, 4), int8(1, 4, zero_point=1)], outputs=[int8(1, 8)])
variant("CONCATENATION", QUANTIZATION, inputs=[int16(1, 4), int16(1, 4, zero_point=1)], outputs=[int16(1, 8)])
variant("CONCATENATION", QUANTIZATION, inputs=[int16(1, 4)] * 2, outputs=[int16(1, 8, zero_point=1)])

accepted("PACK", [ROW, ROW], [floats(2, 1, 4)])
variant("PACK", TYPE, outputs=[arena("BOOL", 2, 1, 4)])
accepted("UNPACK", [floats(2, 4)], [floats(4)] * 2, num=2)
variant("UNPACK", TYPE, inputs=[arena("INT64", 2, 4)])

accepted("SPLIT", [constant(1), WIDE], [ROW, ROW], num_splits=2)
variant("SPLIT", CONSTANT, inputs={0: arena("INT32")})
variant("SPLIT", VALUE, inputs={0: constant(2)})
variant("SPLIT", TYPE, inputs={1: arena("INT64", 1, 8)})
accepted("SPLIT_V", [WIDE, constant([4, 4]), constant(1)], [ROW, ROW], num_splits=2)
variant("SPLIT_V", COUNT, inputs=[WIDE, constant([4, 4]), constant(1), ROW])
variant("SPLIT_V", CONSTANT, inputs={2: arena("INT32")})
variant("SPLIT_V", VALUE, inputs={2: constant(2)})
variant("SPLIT_V", TYPE, inputs={0: arena("INT64", 1, 8)})


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
