"""Rules of activation functions, arithmetic, conversions and reductions.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.xnnpack.rules import arithmetic
from delegate_sim.delegates.xnnpack.target import Visit
from tests.support.delegates.xnnpack_rule_cases import (
    ACTIVATION,
    ATTRIBUTE,
    BARE_INT8,
    CONSTANT,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    HYBRID,
    INT8,
    INT16,
    NEIGHBOR,
    NO_8_BITS,
    PER_CHANNEL,
    QUANTIZATION,
    RANK,
    RANK_7,
    SCALAR,
    SHAPE,
    TANH,
    TYPE,
    UINT8,
    UNSIGNED_ONLY,
    FamilyCases,
    add_float_cases,
    assert_verdict,
    scaled,
    weights,
)
from tests.support.graphs import constant, node_view, persistent
from tests.support.tables import for_each

TABLE = FamilyCases(arithmetic)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("GELU", "HARD_SWISH", "RELU", "RELU6", "RELU_N1_TO_1"):
    add_float_cases(TABLE, _op)
    variant(_op, TYPE, inputs=[INT8])
for _op in ("ELU", "LOGISTIC", "TANH"):
    add_float_cases(TABLE, _op)
    variant(_op, None, inputs=[INT8], outputs=[INT8])
    variant(_op, TYPE, inputs=[INT8], outputs=[INT8], target=NO_8_BITS)
    variant(_op, TYPE if _op == "ELU" else None, inputs=[UINT8], outputs=[UINT8])
    variant(_op, QUANTIZATION, inputs=[BARE_INT8])
    variant(_op, QUANTIZATION, inputs=[PER_CHANNEL])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])

accepted("LEAKY_RELU", [FLOAT], [FLOAT], alpha=0.25)
variant("LEAKY_RELU", None, inputs=[INT8], outputs=[INT8])
variant("LEAKY_RELU", COUNT, inputs=[FLOAT, FLOAT])
variant("LEAKY_RELU", RANK, inputs=[RANK_7])
variant("LEAKY_RELU", SHAPE, inputs=[EMPTY])
variant("LEAKY_RELU", TYPE, inputs=[INT16])
variant("LEAKY_RELU", QUANTIZATION, inputs=[BARE_INT8])
variant("LEAKY_RELU", TYPE, outputs=[INT16])
variant("LEAKY_RELU", QUANTIZATION, outputs=[BARE_INT8])
variant("LEAKY_RELU", ATTRIBUTE, alpha=0.0)
variant("LEAKY_RELU", ATTRIBUTE, alpha=float("inf"))
variant("LEAKY_RELU", QUANTIZATION, inputs=[scaled(128.0)], outputs=[INT8])
variant("LEAKY_RELU", QUANTIZATION, inputs=[INT8], outputs=[INT8], alpha=0.001)
variant("LEAKY_RELU", QUANTIZATION, inputs=[INT8], outputs=[INT8], alpha=-128.0)

accepted("PRELU", [FLOAT, weights(2)], [FLOAT])
variant("PRELU", COUNT, inputs=[FLOAT])
variant("PRELU", RANK, inputs={0: RANK_7})
variant("PRELU", SHAPE, inputs={0: EMPTY})
variant("PRELU", RANK, inputs={1: RANK_7})
variant("PRELU", SHAPE, inputs={1: EMPTY})
variant("PRELU", TYPE, inputs={0: INT8})
variant("PRELU", TYPE, inputs={1: INT8})
variant("PRELU", TYPE, outputs=[INT8])
variant("PRELU", CONSTANT, inputs={1: FLOAT})

accepted("SOFTMAX", [FLOAT], [FLOAT], beta=1.0)
variant("SOFTMAX", ATTRIBUTE, beta=2.0)
variant("SOFTMAX", COUNT, inputs=[FLOAT, FLOAT])
variant("SOFTMAX", TYPE, inputs=[INT8])
variant("SOFTMAX", TYPE, outputs=[INT8])
without_options("SOFTMAX", ATTRIBUTE)

for _op in ("ABS", "CEIL", "COS", "EXP", "FLOOR", "LOG", "NEG", "ROUND", "RSQRT", "SIN", "SQRT", "SQUARE"):
    add_float_cases(TABLE, _op)
    variant(_op, TYPE, inputs=[INT8])

for _op in ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT])
    variant(_op, None, inputs={1: SCALAR})
    variant(_op, COUNT, inputs=[FLOAT])
    for _position in (0, 1):
        variant(_op, RANK, inputs={_position: RANK_7})
        variant(_op, SHAPE, inputs={_position: EMPTY})
        variant(_op, TYPE, inputs={_position: INT16})
    variant(_op, TYPE, outputs=[INT16])
for _op in ("ADD", "SUB", "MUL"):
    variant(_op, None, inputs=[INT8, INT8], outputs=[INT8])
    variant(_op, TYPE, inputs=[INT8, INT8], outputs=[INT8], target=UNSIGNED_ONLY)
    for _position in (0, 1):
        variant(_op, QUANTIZATION, inputs={_position: BARE_INT8})
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])
    variant(_op, HYBRID, inputs=[FLOAT, FLOAT16])
    variant(_op, QUANTIZATION, inputs=[scaled(256.0), INT8], outputs=[INT8])
for _op in ("ADD", "SUB"):
    variant(_op, QUANTIZATION, inputs=[scaled(128.0), INT8], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT8, scaled(0.0004)], outputs=[INT8])
for _op in ("ADD", "SUB", "MUL", "DIV"):
    variant(_op, None, fused_activation_function=1)
    variant(_op, ACTIVATION, fused_activation_function=TANH)
    without_options(_op, None)

WITH_REFUSED_READER = Visit()
WITH_REFUSED_READER.unpacking.refused_readers[0] = node_view("POW", [FLOAT], [FLOAT]).node
accepted("DEQUANTIZE", [INT8], [FLOAT])
variant("DEQUANTIZE", None, inputs=[UINT8], outputs=[FLOAT16])
variant("DEQUANTIZE", NEIGHBOR, target=WITH_REFUSED_READER)
variant("DEQUANTIZE", COUNT, outputs=[FLOAT, FLOAT])
variant("DEQUANTIZE", RANK, inputs=[RANK_7])
variant("DEQUANTIZE", SHAPE, inputs=[EMPTY])
variant("DEQUANTIZE", TYPE, inputs=[FLOAT16])
variant("DEQUANTIZE", TYPE, inputs=[UINT8], target=NO_8_BITS)
variant("DEQUANTIZE", QUANTIZATION, inputs=[PER_CHANNEL])
variant("DEQUANTIZE", TYPE, outputs=[INT8])

accepted("QUANTIZE", [FLOAT], [INT8])
variant("QUANTIZE", None, inputs=[INT8])
variant("QUANTIZE", None, inputs=[scaled(64.0)])
variant("QUANTIZE", COUNT, inputs=[])
variant("QUANTIZE", RANK, inputs=[RANK_7])
variant("QUANTIZE", SHAPE, inputs=[EMPTY])
variant("QUANTIZE", TYPE, inputs=[INT16])
variant("QUANTIZE", QUANTIZATION, inputs=[BARE_INT8])
variant("QUANTIZE", TYPE, outputs=[INT16])
variant("QUANTIZE", QUANTIZATION, outputs=[BARE_INT8])
variant("QUANTIZE", QUANTIZATION, inputs=[scaled(64.5)])
variant("QUANTIZE", QUANTIZATION, inputs=[scaled(0.001)])
variant("QUANTIZE", TYPE, inputs=[UINT8])
variant("QUANTIZE", TYPE, inputs=[scaled(-1.0)])

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM"):
    accepted(_op, [FLOAT, constant([1, 2])], [FLOAT])
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, TYPE, inputs={0: INT16})
    variant(_op, QUANTIZATION, inputs={0: BARE_INT8})
    variant(_op, TYPE, inputs={1: constant([1], "INT64")})
    variant(_op, RANK, inputs={1: constant([[1]])})
    variant(_op, CONSTANT, inputs={1: persistent([1])})
    variant(_op, SHAPE, inputs={1: constant(np.empty(0))})
    variant(_op, SHAPE, inputs=[SCALAR, constant([0])])
    variant(_op, SHAPE, inputs={1: constant([0] * 7)})
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])


@for_each(TABLE.cases, lambda case: case.name)
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except("DENSIFY")
