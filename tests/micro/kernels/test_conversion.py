"""Cases for conversions between types."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.conversion import KERNELS
from tests.support.graphs import arena, quantized
from tests.support.micro_cases import COUNT, QUANTIZATION, TYPE, MicroTable, floats, found_code, int8, unrefused_checks

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
ROW = floats(1, 4)
UINT8, FLOAT16, INT64 = [arena(kind, 1, 4) for kind in ("UINT8", "FLOAT16", "INT64")]

accepted("CAST", [ROW], [arena("INT32", 1, 4)])
variant("CAST", COUNT, outputs=[ROW, ROW])
variant("CAST", TYPE, inputs=[INT64])
variant("CAST", TYPE, outputs=[INT64])

accepted("DEQUANTIZE", [int8(1, 4)], [ROW])
variant("DEQUANTIZE", None, inputs=[quantized(UINT8, 0.5)])
variant("DEQUANTIZE", COUNT, outputs=[ROW, ROW])
variant("DEQUANTIZE", TYPE, inputs=[FLOAT16])
variant("DEQUANTIZE", TYPE, outputs=[int8(1, 4)])

accepted("QUANTIZE", [ROW], [int8(1, 4)])
variant("QUANTIZE", COUNT, outputs=[int8(1, 4)] * 2)
variant("QUANTIZE", QUANTIZATION, outputs=[arena("INT8", 1, 4)])
variant("QUANTIZE", QUANTIZATION, outputs=[quantized(arena("INT8", 1, 4), 0.5, 0.5, 0.5, 0.5, dimension=1)])
variant("QUANTIZE", TYPE, inputs=[INT64])
variant("QUANTIZE", TYPE, outputs=[quantized(INT64, 0.5)])
variant("QUANTIZE", TYPE, outputs=[quantized(UINT8, 0.5)])
variant("QUANTIZE", None, inputs=[int8(1, 4)], outputs=[quantized(UINT8, 0.5)])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
