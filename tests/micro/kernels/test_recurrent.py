"""Cases for layers that carry a state from step to step, for calls of other subgraphs, and for variables."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from delegate_sim.micro.kernels.recurrent import KERNELS
from tests.support.graphs import MODEL, arena, constant, quantized
from tests.support.micro_cases import (
    CMSIS,
    CONSTANT,
    COUNT,
    HYBRID,
    OPTION,
    QUANTIZATION,
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
from tests.support.tables import for_each

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
ROW, FEATURES, TIME, BIAS, STATE, RESULT = [floats(*shape) for shape in ((1, 4), (6, 4), (6, 5), (3,), (1, 30), (1, 3))]
STATE = STATE._replace(is_variable=True)
INT8_STATE = int8(1, 30)._replace(is_variable=True)
INT8_SVDF = [int8(1, 4), int8(6, 4), int8(6, 5), quantized(arena("INT32", 3), 0.25), INT8_STATE]

accepted("SVDF", [ROW, FEATURES, TIME, BIAS, STATE], [RESULT], rank=2)
variant("SVDF", None, inputs={3: None})
variant("SVDF", COUNT, inputs={4: None})
variant("SVDF", SHAPE, rank=4)
variant("SVDF", TYPE, inputs={0: int16(1, 4)})
variant("SVDF", RANK, inputs={0: floats(1, 4, 1)})
variant("SVDF", SHAPE, inputs={1: floats(6, 5)})
variant("SVDF", SHAPE, outputs=[floats(1, 4)])
variant("SVDF", COUNT, inputs={4: floats(1, 30)})
variant("SVDF", COUNT, outputs=[RESULT, RESULT])
variant("SVDF", HYBRID, inputs={1: int8(6, 4)})
variant("SVDF", HYBRID, inputs={2: int8(6, 5)})
variant("SVDF", HYBRID, inputs={4: INT8_STATE})
variant("SVDF", TYPE, inputs={3: arena("INT32", 3)})
variant("SVDF", TYPE, outputs=[int8(1, 3)])
variant("SVDF", None, inputs=INT8_SVDF, outputs=[int8(1, 3)])
for position, wrong in enumerate((FEATURES, TIME, BIAS, STATE), 1):
    operands = [wrong if place == position else tensor for place, tensor in enumerate(INT8_SVDF)]
    variant("SVDF", TYPE, inputs=operands, outputs=[int8(1, 3)])
variant("SVDF", TYPE, inputs=INT8_SVDF, outputs=[RESULT])
variant("SVDF", QUANTIZATION, inputs=[*INT8_SVDF[:3], quantized(arena("INT32", 3), 1.0), INT8_STATE], outputs=[int8(1, 3)])

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
STATES = [floats(1, 3)._replace(is_variable=True)] * 2
WEIGHTS = [*[constant(np.zeros((3, 4)), "FLOAT32")] * 4, *[constant(np.zeros((3, 3)), "FLOAT32")] * 4]
BIASES = [constant(np.zeros(3), "FLOAT32")] * 4
NONE = [None]
accepted(LSTM, [floats(1, 2, 4), *WEIGHTS, *NONE * 3, *BIASES, *NONE * 2, *STATES, *NONE * 4], [floats(1, 2, 3)])
variant(LSTM, None, target=CMSIS)
variant(LSTM, COUNT, outputs=[floats(1, 2, 3)] * 2)
variant(LSTM, COUNT, inputs={18: floats(1, 3)})
variant(LSTM, TYPE, inputs={18: int8(1, 3)._replace(is_variable=True)})
variant(LSTM, TYPE, outputs=[int8(1, 2, 3)])
variant(LSTM, COUNT, inputs={3: None})
variant(LSTM, COUNT, inputs={3: int8(3, 4)})
variant(LSTM, COUNT, inputs={12: None})
variant(LSTM, COUNT, inputs={12: arena("INT32", 3)})
variant(LSTM, COUNT, inputs={9: floats(3)})
variant(LSTM, CONSTANT, inputs={1: floats(3, 4)}, target=CMSIS)
variant(LSTM, None, inputs={1: floats(3, 4)})
variant(LSTM, SHAPE, inputs={1: constant(np.zeros((3, 5)), "FLOAT32")})
variant(LSTM, SHAPE, outputs=[floats(1, 2, 4)])
variant(LSTM, TYPE, inputs={19: int8(1, 3)._replace(is_variable=True)})
rest = [int16(1, 3)._replace(is_variable=True)] * 2
variant(LSTM, HYBRID, inputs={0: int16(1, 2, 4), 18: rest[0], 19: rest[1]}, outputs=[int16(1, 2, 3)])
other = arena("INT32", 1, 3, is_variable=True)
variant(LSTM, TYPE, inputs={0: arena("INT32", 1, 2, 4), 18: other, 19: rest[1]}, outputs=[arena("INT32", 1, 2, 3)])


HANDLE, CONDITION, VALUE = arena("RESOURCE", 1), arena("BOOL", 1), floats(4)


def calling(*sizes):
    """Return a model whose subgraphs have these numbers of inputs and outputs."""
    subgraphs = [SimpleNamespace(inputs=range(inputs), outputs=range(outputs)) for inputs, outputs in sizes]
    return replace(MODEL, subgraphs=tuple(subgraphs))


accepted("VAR_HANDLE", [], [HANDLE])
accepted("READ_VARIABLE", [HANDLE], [VALUE])
accepted("ASSIGN_VARIABLE", [HANDLE, VALUE], [])
variant("ASSIGN_VARIABLE", COUNT, outputs=[VALUE])
variant("ASSIGN_VARIABLE", TYPE, inputs={0: VALUE})
variant("ASSIGN_VARIABLE", SHAPE, inputs={0: arena("RESOURCE", 2)})

TWO, THREE = calling((1, 1), (1, 1)), calling((1, 1), (1, 1), (1, 1))
accepted("CALL_ONCE", [], [], init_subgraph_index=1, model=TWO)
variant("CALL_ONCE", COUNT, inputs=[VALUE], init_subgraph_index=1, model=TWO)
variant("CALL_ONCE", OPTION, init_subgraph_index=2, model=TWO)

accepted("IF", [CONDITION, VALUE], [VALUE], then_subgraph_index=1, else_subgraph_index=2, model=THREE)
variant("IF", COUNT, inputs=[], outputs=[], model=THREE)
variant("IF", TYPE, inputs={0: VALUE}, model=THREE)
variant("IF", SHAPE, inputs={0: arena("BOOL", 2)}, model=THREE)
variant("IF", OPTION, else_subgraph_index=3, model=THREE)
variant("IF", COUNT, model=calling((1, 1), (2, 1), (1, 1)))

accepted("WHILE", [VALUE], [VALUE], cond_subgraph_index=1, body_subgraph_index=2, model=THREE)
variant("WHILE", OPTION, cond_subgraph_index=3, model=THREE)
variant("WHILE", COUNT, model=calling((1, 1), (2, 1), (1, 1)))
variant("WHILE", COUNT, model=calling((1, 1), (1, 1), (2, 1)))
variant("WHILE", COUNT, inputs=[VALUE, VALUE], model=calling((1, 1), (2, 1), (2, 1)))


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
