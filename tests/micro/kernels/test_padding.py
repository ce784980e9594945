"""Cases for padding."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.padding import KERNELS
from tests.support.graphs import arena, constant, quantized
from tests.support.micro_cases import (
    CONSTANT,
    COUNT,
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

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
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


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
