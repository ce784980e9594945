"""Rules of the families ``activation`` and ``conversion``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.mldrift.rules import activation
from tests.support.delegates.mldrift_rule_cases import (
    EIGHT,
    IMAGE,
    INT32,
    MATRIX,
    NO_DATA,
    ONE,
    PER_CHANNEL,
    SCALES,
    VECTOR,
    Case,
    F,
    G,
    assert_verdict,
    too_new,
)
from tests.support.graphs import arena, constant, quantized
from tests.support.tables import for_each

CASES = [
    *[Case(op, None, [F], [G]) for op in ("ELU", "GELU", "LOGISTIC", "TANH")],
    Case("GELU", too_new(3, 4), [F], [G], version=4),
    Case("RELU", None, [F], [G]),
    Case("RELU", "Expected 1 runtime input tensor(s), but node has 0 runtime input(s).", [EIGHT], [VECTOR]),
    Case("RELU", None, [EIGHT], [VECTOR], release="litert-2.1.5"),
    Case("RELU", "Expected 0 const input tensor(s), but node has 1 const input(s).", [EIGHT], [VECTOR], release="litert-2.1.3"),
    Case("RELU_0_TO_1", "Not supported op RELU_0_TO_1", [F], [G]),
    Case("RELU_0_TO_1", None, [F], [G], release="litert-2.1.3"),
    Case("HARD_SWISH", None, [F], [G]),
    Case("SOFTMAX", None, [F], [G], {"beta": 1.0}, version=4),
    Case("SOFTMAX", "Softmax.beta != 1 is not supported.", [F], [G], {"beta": 2.0}),
    Case("SOFTMAX", too_new(2, 3), [F], [G], {"beta": 1.0}, version=3, release="litert-2.1.3"),
    Case("PRELU", None, [F, EIGHT], [G]),
    Case("PRELU", None, [F, IMAGE], [G]),
    Case("PRELU", "Linear alpha shape does not match the number of input channels.", [F, ONE], [G]),
    Case("PRELU", "Alpha shape does not match input shape.", [F, constant(np.ones((4, 4, 4)), "FLOAT32")], [G]),
    Case("PRELU", NO_DATA, [F, VECTOR], [G]),
    Case("PRELU", "Invalid input tensor index: 1", [F], [G]),
    Case("PRELU", "Batch size is not equal to 1.", [F, constant(np.ones((2, 4, 4, 8)), "FLOAT32")], [G]),
    Case("CAST", None, [F], [INT32]),
    Case("CAST", "Invalid number of inputs: 2, while expected at most 1.", [F, G], [G]),
    Case("QUANTIZE", None, [F], [quantized(arena("INT8", 1, 4, 4, 8), 0.5)]),
    Case("QUANTIZE", "Encountered Quantize output with no quant params", [F], [arena("INT8", 1, 4, 4, 8)]),
    Case("DEQUANTIZE", None, [quantized(arena("INT8", 1, 4, 4, 8), 0.5)], [G]),
    Case("DEQUANTIZE", "Dequantize for Densify is not supported", [arena("INT8", 1, 4, 4, 8)], [G]),
    Case("DEQUANTIZE", None, [arena("INT8", 1, 4, 4, 8)], [G], release="litert-2.1.5"),
    Case("DEQUANTIZE", SCALES, [PER_CHANNEL], [G]),
    Case("DEQUANTIZE", "Unsupported dequantization type.", [quantized(arena("INT16", 4), 0.5)], [VECTOR]),
    Case("DEQUANTIZE", "Unsupported dims for tensor: c Got dims:1", [constant(np.ones(8), "INT8", name="c")], [VECTOR]),
    Case("DEQUANTIZE", None, [constant(np.ones((2, 4)), "INT8")], [MATRIX]),
    Case("BITCAST", None, [arena("INT32", 2, 3)], [arena("INT8", 2, 3, 4)]),
    Case(
        "BITCAST",
        "If input and output types have the same element size, they must have the same shapes",
        [arena("INT32", 2)],
        [arena("FLOAT32", 3)],
    ),
    Case("BITCAST", "Shapes must match in all but last dim", [arena("INT32", 2, 3)], [arena("INT8", 2, 2, 4)]),
    Case(
        "BITCAST",
        "Last output dim must be equal to input element size divided by output element size",
        [arena("INT32", 2, 3)],
        [arena("INT8", 2, 3, 2)],
    ),
    Case("DENSIFY", "Operation is not supported.", [F], [G]),
]
LIKE_OTHERS = {"LEAKY_RELU", "RELU6", "RELU_N1_TO_1"}
"""Operators whose rules are those of others, or that have tests of their own."""


@for_each(CASES, lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert activation.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS
