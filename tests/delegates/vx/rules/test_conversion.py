"""The rules of changes of type, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import conversion
from tests.support.delegates.vx_cases import (
    FLOAT,
    FLOAT16,
    INT8,
    INT8_PER_CHANNEL,
    INT8_UNSCALED,
    INT16,
    INT16_UNSCALED,
    INT32,
    INT32_UNSCALED,
    QUANTIZATION,
    TYPE,
    UINT8,
    UINT8_PER_CHANNEL,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, quantized

TABLE = VxTable(conversion.RULES)
accepted, variant = TABLE.accepted, TABLE.variant

accepted("CAST", [FLOAT], [INT32])
for _type in ("COMPLEX64", "UINT32", "UINT16"):
    variant("CAST", TYPE, inputs=[arena(_type, 4)])
    variant("CAST", TYPE, outputs=[arena(_type, 4)])
variant("CAST", inputs=[arena("FLOAT64", 4)])

accepted("DEQUANTIZE", [INT8], [FLOAT])
variant("DEQUANTIZE", inputs=[INT8_UNSCALED])
variant("DEQUANTIZE", QUANTIZATION, inputs=[INT16])
variant("DEQUANTIZE", inputs=[INT16_UNSCALED])
variant("DEQUANTIZE", inputs=[FLOAT16])
variant("DEQUANTIZE", QUANTIZATION, inputs=[quantized(FLOAT16, 0.5)])
variant("DEQUANTIZE", inputs=[INT16], outputs=[FLOAT16])
variant("DEQUANTIZE", QUANTIZATION, inputs=[INT8_PER_CHANNEL])
variant("DEQUANTIZE", QUANTIZATION, inputs=[UINT8_PER_CHANNEL])
variant("DEQUANTIZE", inputs=[INT8_PER_CHANNEL], outputs=[FLOAT16])
variant("DEQUANTIZE", inputs=[quantized(INT32_UNSCALED, *[0.5] * 2)])

accepted("QUANTIZE", [FLOAT], [INT8])
for _source in (INT32, INT16):
    variant("QUANTIZE", QUANTIZATION, inputs=[_source])
    variant("QUANTIZE", QUANTIZATION, inputs=[_source], outputs=[UINT8])
variant("QUANTIZE", inputs=[INT32_UNSCALED])
variant("QUANTIZE", QUANTIZATION, inputs=[INT16], outputs=[INT32])
variant("QUANTIZE", inputs=[INT16_UNSCALED], outputs=[INT32])
variant("QUANTIZE", inputs=[INT32], outputs=[INT32])
variant("QUANTIZE", inputs=[UINT8])
variant("QUANTIZE", QUANTIZATION, outputs=[INT8_PER_CHANNEL])
variant("QUANTIZE", QUANTIZATION, outputs=[UINT8_PER_CHANNEL])
variant("QUANTIZE", inputs=[INT8], outputs=[INT8_PER_CHANNEL])


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
