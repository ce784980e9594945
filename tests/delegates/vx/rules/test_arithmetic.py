"""Rules of activation functions, arithmetic and conversions, against the mappers in ``op_map.cc``."""

from __future__ import annotations

from delegate_sim.delegates.vx import arithmetic
from tests.support.delegates.vx_cases import (
    BOOL,
    FLOAT,
    FLOAT16,
    FLOAT_SCALAR,
    INT8,
    INT8_PER_CHANNEL,
    INT8_UNSCALED,
    INT16,
    INT16_UNSCALED,
    INT32,
    INT32_UNSCALED,
    QUANTIZATION,
    RANK,
    RELU,
    RELU_N1_TO_1,
    TYPE,
    UINT8,
    UINT8_PER_CHANNEL,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, quantized
from tests.support.tables import for_each

TABLE = VxTable(arithmetic.RULES.keys() - {"ABS"})
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

for _op in (
    "ELU", "GELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "RELU", "RELU6",
    "RELU_N1_TO_1", "SOFTMAX", "TANH",
):  # fmt: skip
    accepted(_op, [FLOAT], [FLOAT])
accepted("PRELU", [FLOAT, FLOAT], [FLOAT])

for _op in ("EXP", "FLOOR", "LOG", "LOGICAL_NOT", "NEG", "RSQRT", "SIN", "SQRT", "SQUARE"):
    accepted(_op, [FLOAT], [FLOAT])
for _op in (
    "ADD_N", "EQUAL", "FLOOR_DIV", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR", "MAXIMUM",
    "MINIMUM", "NOT_EQUAL",
):  # fmt: skip
    accepted(_op, [FLOAT, FLOAT], [FLOAT])

for _op in ("ADD", "DIV", "MUL", "SUB"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT])
    variant(_op, QUANTIZATION, inputs=[INT16, INT16], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT16, INT16], outputs=[UINT8])
    variant(_op, inputs=[INT16_UNSCALED, INT16], outputs=[INT8])
    variant(_op, inputs=[INT16, INT16], outputs=[INT8_UNSCALED])
    variant(_op, inputs=[INT16, INT16], outputs=[FLOAT])
    variant(_op, inputs=[INT8, INT16], outputs=[INT8])
    variant(_op, inputs=[INT32, INT32], outputs=[INT32], fused_activation_function=RELU)
    variant(_op, TYPE, inputs=[INT32, FLOAT], outputs=[INT32], fused_activation_function=RELU_N1_TO_1)
    variant(_op, inputs=[INT32, INT32], outputs=[FLOAT], fused_activation_function=RELU_N1_TO_1)
    variant(_op, fused_activation_function=RELU_N1_TO_1)

accepted("POW", [FLOAT, FLOAT], [FLOAT])
variant("POW", inputs=[INT32, FLOAT])
variant("POW", inputs=[FLOAT, INT32])
variant("POW", TYPE, inputs=[INT32, INT32])

accepted("SQUARED_DIFFERENCE", [FLOAT, FLOAT], [FLOAT])
variant("SQUARED_DIFFERENCE", inputs=[INT8, INT8], outputs=[INT8])
variant("SQUARED_DIFFERENCE", inputs=[UINT8, UINT8], outputs=[UINT8])
variant("SQUARED_DIFFERENCE", TYPE, inputs=[FLOAT, INT8])
variant("SQUARED_DIFFERENCE", TYPE, inputs=[INT32, INT32], outputs=[INT32])
variant("SQUARED_DIFFERENCE", TYPE, inputs=[INT8, INT8], outputs=[UINT8])
variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=[INT8_PER_CHANNEL, INT8], outputs=[INT8])
variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=[UINT8, UINT8], outputs=[UINT8_PER_CHANNEL])
variant("SQUARED_DIFFERENCE", inputs=[INT8, INT8_PER_CHANNEL], outputs=[INT8])
variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=[INT8_UNSCALED, INT8], outputs=[INT8])

for _op in ("SELECT", "SELECT_V2"):
    accepted(_op, [BOOL, FLOAT, FLOAT], [FLOAT])
    variant(_op, RANK, inputs={0: arena("BOOL", 1)})
    variant(_op, RANK, inputs={1: FLOAT_SCALAR})
    variant(_op, inputs={2: FLOAT_SCALAR})
    variant(_op, inputs={0: INT8})
    for _tensor in (BOOL, INT8, UINT8):
        variant(_op, TYPE, inputs={1: _tensor})
        variant(_op, TYPE, inputs={2: _tensor})
        variant(_op, TYPE, outputs=[_tensor])
    variant(_op, inputs={1: INT32, 2: INT32}, outputs=[INT32])

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


@for_each(TABLE.cases, name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
