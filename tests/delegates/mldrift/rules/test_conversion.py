"""Rules of the family ``conversion``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.mldrift.rules import conversion
from tests.support.delegates.mldrift_rule_cases import INT32, MATRIX, PER_CHANNEL, SCALES, VECTOR, Case, F, G, assert_verdict
from tests.support.graphs import arena, constant, quantized

CASES = [
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert conversion.RULES.keys() - {case.op for case in CASES} == set()
