"""Cases for joining and splitting."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.joining import KERNELS
from tests.support.graphs import arena, constant
from tests.support.micro_cases import (
    ACTIVATION,
    CONSTANT,
    COUNT,
    QUANTIZATION,
    RANK,
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


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
