"""Rules of the family ``matrix``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.mldrift.rules import matrix
from tests.support.delegates.mldrift_rule_cases import (
    EIGHT,
    FLOAT_WEIGHTS,
    MATRIX,
    MATRIX_WEIGHTS,
    UNSIGNED,
    Case,
    assert_verdict,
)
from tests.support.graphs import arena

CASES = [
    Case("FULLY_CONNECTED", None, [MATRIX, MATRIX_WEIGHTS, EIGHT], [MATRIX], version=14),
    Case("FULLY_CONNECTED", "Expected Int8, Int4, or Int2 quantized tensor: 1", [MATRIX, UNSIGNED, EIGHT], [MATRIX]),
    Case("FULLY_CONNECTED", None, [MATRIX, FLOAT_WEIGHTS, EIGHT], [MATRIX]),
    Case("FULLY_CONNECTED", "FullyConnected doesn't support constant input.", [FLOAT_WEIGHTS, FLOAT_WEIGHTS], [MATRIX]),
    Case(
        "FULLY_CONNECTED",
        "Unsupported FullyConnected weights format: 1",
        [MATRIX, FLOAT_WEIGHTS],
        [MATRIX],
        {"weights_format": 1},
    ),
    Case("FULLY_CONNECTED", "input #1 tensor is not available", [MATRIX], [MATRIX]),
    Case("BATCH_MATMUL", None, [MATRIX, arena("FLOAT32", 8, 8)], [MATRIX]),
    Case("BATCH_MATMUL", None, [MATRIX, FLOAT_WEIGHTS], [MATRIX]),
    Case("BATCH_MATMUL", "Not supported batched mat mul case: non-constant tensor", [FLOAT_WEIGHTS, MATRIX], [MATRIX]),
    Case("BATCH_MATMUL", "Not supported batched mat mul case: second input has unsupported rank", [MATRIX, EIGHT], [MATRIX]),
    Case("BATCH_MATMUL", "Not supported batched mat mul case: too many inputs", [FLOAT_WEIGHTS, FLOAT_WEIGHTS], [MATRIX]),
    Case("BATCH_MATMUL", "Expected 2 inputs and 1 output, got: 1 inputs and 1 outputs", [MATRIX], [MATRIX]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert matrix.RULES.keys() - {case.op for case in CASES} == set()
