"""Cases for activation functions and conversions."""

from __future__ import annotations

from delegate_sim.micro.kernels.activation import KERNELS
from tests.support.graphs import arena, quantized
from tests.support.micro_cases import (
    ACTIVATION,
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
from tests.support.tables import for_each

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
ROW = floats(1, 4)
UINT8, INT32 = arena("UINT8", 1, 4), arena("INT32", 1, 4)
FRACTION = 1 / 32768

for op in ("ELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LOGISTIC", "LOG_SOFTMAX", "PRELU", "RELU", "RELU6", "TANH"):
    operands = [ROW, floats(4)] if op == "PRELU" else [ROW]
    accepted(op, operands, [ROW])
    variant(op, TYPE, inputs={0: INT32}, outputs=[INT32])
for op in ("ELU", "L2_NORMALIZATION", "LEAKY_RELU", "LOGISTIC", "LOG_SOFTMAX", "TANH"):
    variant(op, TYPE, inputs=[int8(1, 4)])
for op in ("ELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LOG_SOFTMAX", "TANH", "SOFTMAX"):
    if op == "SOFTMAX":
        accepted(op, [ROW], [ROW])
    variant(op, COUNT, outputs=[ROW, ROW])

variant("HARD_SWISH", None, inputs=[int8(1, 4)], outputs=[int8(1, 4)])
variant("HARD_SWISH", QUANTIZATION, inputs=[int8(1, 4, scale=200.0)], outputs=[int8(1, 4, scale=1.0)])
variant("L2_NORMALIZATION", RANK, inputs=[floats(1, 1, 1, 1, 4)])
variant("L2_NORMALIZATION", ACTIVATION, fused_activation_function=1)
variant("L2_NORMALIZATION", TYPE, inputs=[int16(1, 4)], outputs=[int16(1, 4)])

for op in ("LOGISTIC", "TANH"):
    variant(op, None, inputs=[int16(1, 4)], outputs=[int16(1, 4, scale=FRACTION)])
    variant(op, QUANTIZATION, inputs=[int16(1, 4, zero_point=1)], outputs=[int16(1, 4, scale=FRACTION)])
    variant(op, QUANTIZATION, inputs=[int16(1, 4)], outputs=[int16(1, 4, scale=FRACTION, zero_point=1)])
    variant(op, QUANTIZATION, inputs=[int16(1, 4)], outputs=[int16(1, 4, scale=0.5)])
variant("LOGISTIC", None, inputs=[int8(1, 4)], outputs=[int8(1, 4, zero_point=-128)])
variant("LOGISTIC", QUANTIZATION, inputs=[int8(1, 4)], outputs=[int8(1, 4)])

variant("LOG_SOFTMAX", SHAPE, outputs=[floats(1, 5)])
variant("LOG_SOFTMAX", None, inputs=[int8(1, 4)], outputs=[int8(1, 4, scale=1 / 16, zero_point=127)])
variant("LOG_SOFTMAX", QUANTIZATION, inputs=[int8(1, 4)], outputs=[int8(1, 4, scale=1 / 8, zero_point=127)])
variant("LOG_SOFTMAX", QUANTIZATION, inputs=[int8(1, 4)], outputs=[int8(1, 4, scale=1 / 16)])

variant("PRELU", None, inputs=[int16(1, 4), int8(4)], outputs=[int16(1, 4)])
variant("PRELU", TYPE, inputs=[int16(1, 4), int16(4)], outputs=[int16(1, 4)])
variant("RELU", QUANTIZATION, inputs=[int16(1, 4, zero_point=1)], outputs=[int16(1, 4)])
variant("RELU", QUANTIZATION, inputs=[int16(1, 4)], outputs=[int16(1, 4, zero_point=1)])

variant("SOFTMAX", RANK, inputs=[floats()])
variant("SOFTMAX", TYPE, inputs=[floats(1, 4)], outputs=[int16(1, 4)])
variant("SOFTMAX", TYPE, inputs=[floats(1, 4)], outputs=[int8(1, 4)])
variant("SOFTMAX", TYPE, inputs=[UINT8], outputs=[UINT8])
variant("SOFTMAX", None, inputs=[int16(1, 4)], outputs=[int16(1, 4, scale=FRACTION)])
variant("SOFTMAX", QUANTIZATION, inputs=[int16(1, 4)], outputs=[int16(1, 4, scale=FRACTION, zero_point=1)])
variant("SOFTMAX", QUANTIZATION, inputs=[int16(1, 4, zero_point=1)], outputs=[int16(1, 4, scale=FRACTION)])
variant("SOFTMAX", QUANTIZATION, inputs=[int16(1, 4)], outputs=[int16(1, 4)])
variant("SOFTMAX", None, inputs=[int8(1, 4)], outputs=[int16(1, 4, scale=1 / 65536, zero_point=-32768)])
variant("SOFTMAX", QUANTIZATION, inputs=[int8(1, 4)], outputs=[int16(1, 4, scale=1 / 65536)])
variant("SOFTMAX", QUANTIZATION, inputs=[int8(1, 4)], outputs=[int16(1, 4, zero_point=-32768)])
variant("SOFTMAX", None, inputs=[int8(1, 4)], outputs=[int8(1, 4, scale=1 / 256, zero_point=-128)])
variant("SOFTMAX", QUANTIZATION, inputs=[int8(1, 4)], outputs=[int8(1, 4, scale=1 / 256)])
variant("SOFTMAX", QUANTIZATION, inputs=[int8(1, 4)], outputs=[int8(1, 4, zero_point=-128)])

CONVERSION_UINT8, FLOAT16, INT64 = [arena(kind, 1, 4) for kind in ("UINT8", "FLOAT16", "INT64")]

accepted("CAST", [ROW], [arena("INT32", 1, 4)])
variant("CAST", COUNT, outputs=[ROW, ROW])
variant("CAST", TYPE, inputs=[INT64])
variant("CAST", TYPE, outputs=[INT64])

accepted("DEQUANTIZE", [int8(1, 4)], [ROW])
variant("DEQUANTIZE", None, inputs=[quantized(CONVERSION_UINT8, 0.5)])
variant("DEQUANTIZE", COUNT, outputs=[ROW, ROW])
variant("DEQUANTIZE", TYPE, inputs=[FLOAT16])
variant("DEQUANTIZE", TYPE, outputs=[int8(1, 4)])

accepted("QUANTIZE", [ROW], [int8(1, 4)])
variant("QUANTIZE", COUNT, outputs=[int8(1, 4)] * 2)
variant("QUANTIZE", QUANTIZATION, outputs=[arena("INT8", 1, 4)])
variant("QUANTIZE", QUANTIZATION, outputs=[quantized(arena("INT8", 1, 4), 0.5, 0.5, 0.5, 0.5, dimension=1)])
variant("QUANTIZE", TYPE, inputs=[INT64])
variant("QUANTIZE", TYPE, outputs=[quantized(INT64, 0.5)])
variant("QUANTIZE", TYPE, outputs=[quantized(CONVERSION_UINT8, 0.5)])
variant("QUANTIZE", None, inputs=[int8(1, 4)], outputs=[quantized(CONVERSION_UINT8, 0.5)])


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
