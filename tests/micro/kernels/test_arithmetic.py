"""Cases for elementwise arithmetic and reductions."""

from __future__ import annotations

from delegate_sim.micro.kernels.arithmetic import KERNELS
from tests.support.graphs import arena, constant, quantized
from tests.support.micro_cases import (
    ACTIVATION,
    BROADCAST,
    CMSIS,
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
from tests.support.tables import for_each

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
ROW, CUBE = floats(1, 4), floats(1, 1, 1, 1, 4)
INT32, BOOL, UINT8, STRING = [arena(kind, 1, 4) for kind in ("INT32", "BOOL", "UINT8", "STRING")]
SCALED_INT32 = quantized(INT32, 0.5)
NO_PARAMETERS = arena("INT8", 1, 4)
NO_SCALE = int8(1, 4, scale=0.0)

for op in ("COS", "LOG", "SIN", "SQRT", "SQUARE", "LOGICAL_NOT", "ABS", "RSQRT"):
    first = BOOL if op == "LOGICAL_NOT" else ROW
    accepted(op, [first], [first])
    variant(op, COUNT, inputs=[first, first])
    variant(op, TYPE, outputs=[INT32])
    variant(op, TYPE, inputs=[INT32], outputs=[INT32])
for op in ("ABS", "RSQRT"):
    variant(op, None, inputs=[int8(1, 4)], outputs=[int8(1, 4)])
    variant(op, None, inputs=[arena("INT16", 1, 4)], outputs=[arena("INT16", 1, 4)])
    variant(op, QUANTIZATION, inputs=[NO_PARAMETERS], outputs=[int8(1, 4)])
    variant(op, QUANTIZATION, inputs=[int8(1, 4)], outputs=[NO_PARAMETERS])
    variant(op, QUANTIZATION, inputs=[int16(1, 4, zero_point=1)], outputs=[int16(1, 4)])
    variant(op, QUANTIZATION, inputs=[int16(1, 4)], outputs=[int16(1, 4, zero_point=1)])
variant("RSQRT", VALUE, inputs=[quantized(constant([-1, 2], "INT8"), 0.5)], outputs=[int8(2)])

for op in ("CEIL", "EXP", "ROUND"):
    accepted(op, [ROW], [ROW])
    variant(op, COUNT, outputs=[ROW, ROW])
    variant(op, TYPE, inputs=[INT32])
    variant(op, TYPE, outputs=[INT32])
    variant(op, SHAPE, outputs=[floats(4)])
for op in ("FLOOR", "NEG"):
    accepted(op, [ROW], [ROW])
    variant(op, TYPE, inputs=[int8(1, 4)])

for op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
    accepted(op, [ROW, ROW], [BOOL])
    variant(op, TYPE, inputs=[UINT8, UINT8])
    variant(op, None if op in ("EQUAL", "NOT_EQUAL") else TYPE, inputs=[BOOL, BOOL])
    variant(op, None if op == "GREATER" else TYPE, inputs=[int16(1, 4)] * 2)
for op in ("LOGICAL_AND", "LOGICAL_OR"):
    accepted(op, [BOOL, BOOL], [BOOL])
    variant(op, None, inputs=[INT32, INT32])

for op in ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "FLOOR_DIV", "FLOOR_MOD", "SQUARED_DIFFERENCE"):
    accepted(op, [ROW, ROW], [ROW])
    variant(op, TYPE, inputs=[BOOL, BOOL], outputs=[BOOL])
for op in ("ADD", "SUB"):
    variant(op, None, inputs=[INT32, INT32], outputs=[INT32])
    variant(op, QUANTIZATION, inputs=[SCALED_INT32, INT32], outputs=[INT32])
    variant(op, QUANTIZATION, inputs=[INT32, SCALED_INT32], outputs=[INT32])
    variant(op, ACTIVATION, inputs=[int8(1, 4)] * 2, outputs=[NO_SCALE], fused_activation_function=1)
variant("SUB", QUANTIZATION, inputs=[INT32, INT32], outputs=[SCALED_INT32])
variant("ADD", QUANTIZATION, inputs=[int8(1, 4)] * 2, outputs=[NO_PARAMETERS])
variant("ADD", None, inputs=[int16(1, 4)] * 2, outputs=[int16(1, 4)], target=CMSIS)
variant("ADD", TYPE, outputs=[INT32], target=CMSIS)
variant("ADD", TYPE, inputs=[BOOL] * 2, outputs=[BOOL], target=CMSIS)
variant("ADD", TYPE, inputs=[ROW, INT32], target=CMSIS)
for wrong in range(3):
    tensors = [int16(1, 4, zero_point=int(place == wrong)) for place in range(3)]
    variant("ADD", QUANTIZATION, inputs=tensors[:2], outputs=tensors[2:], target=CMSIS)
    variant("ADD", None, inputs=tensors[:2], outputs=tensors[2:])
    variant("MUL", QUANTIZATION, inputs=tensors[:2], outputs=tensors[2:])
    variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=tensors[:2], outputs=tensors[2:])
for op in ("MAXIMUM", "MINIMUM"):
    variant(op, None, inputs=[CUBE, ROW], outputs=[CUBE])
    variant(op, None, target=CMSIS)
    variant(op, RANK, inputs=[CUBE, ROW], outputs=[CUBE], target=CMSIS)
    variant(op, RANK, inputs=[ROW, CUBE], outputs=[CUBE], target=CMSIS)
    variant(op, RANK, outputs=[CUBE], target=CMSIS)
for op in ("MUL", "FLOOR_DIV", "FLOOR_MOD", "SQUARED_DIFFERENCE"):
    variant(op, COUNT, inputs=[ROW, ROW, ROW])
for op in ("MUL", "DIV", "FLOOR_DIV", "FLOOR_MOD", "SQUARED_DIFFERENCE"):
    variant(op, TYPE, inputs=[ROW, INT32])
for op in ("DIV", "FLOOR_DIV", "FLOOR_MOD"):
    variant(op, TYPE, outputs=[INT32])
variant("MUL", ACTIVATION, inputs=[int8(1, 4)] * 2, outputs=[NO_SCALE], fused_activation_function=1)
variant("DIV", ACTIVATION, inputs=[int8(1, 4)] * 2, outputs=[NO_SCALE], fused_activation_function=1)
variant("DIV", QUANTIZATION, inputs=[SCALED_INT32, INT32], outputs=[INT32])
variant("DIV", QUANTIZATION, inputs=[INT32, SCALED_INT32], outputs=[INT32])
variant("DIV", None, inputs=[INT32, constant([1, 2])], outputs=[INT32])
variant("DIV", VALUE, inputs=[INT32, constant([1, 0])], outputs=[INT32])
variant("FLOOR_DIV", VALUE, inputs=[ROW, constant([0.0], "FLOAT32")])
variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=[int8(1, 4, zero_point=200), int8(1, 4)], outputs=[int8(1, 4)])

accepted("ADD_N", [ROW, ROW, ROW], [ROW])
variant("ADD_N", COUNT, inputs=[ROW])
variant("ADD_N", TYPE, outputs=[INT32])
variant("ADD_N", SHAPE, inputs=[ROW, floats(4)])
variant("ADD_N", TYPE, inputs=[ROW, INT32])
variant("ADD_N", QUANTIZATION, inputs=[int8(1, 4), int8(1, 4, scale=1.0)], outputs=[int8(1, 4)])
variant("ADD_N", TYPE, inputs=[INT32, INT32], outputs=[INT32])

accepted("SELECT_V2", [BOOL, ROW, ROW], [ROW])
variant("SELECT_V2", COUNT, inputs=[BOOL, ROW, ROW, ROW])
variant("SELECT_V2", TYPE, inputs={0: INT32})
variant("SELECT_V2", TYPE, inputs={2: INT32})
variant("SELECT_V2", None, inputs=[arena("BOOL", 1), ROW, ROW])
variant("SELECT_V2", BROADCAST, inputs=[arena("BOOL", 3), ROW, ROW])
variant("SELECT_V2", TYPE, inputs=[BOOL, INT32, INT32], outputs=[INT32])

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


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
