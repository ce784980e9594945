"""Rules of convolutions, pooling, resizing and matrix products.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.mldrift.rules import layers
from tests.support.delegates.mldrift_rule_cases import (
    EIGHT,
    FILTER,
    FLOAT_WEIGHTS,
    MATRIX,
    MATRIX_WEIGHTS,
    POINT_WEIGHTS,
    POOL,
    STEPS,
    STRIDE,
    UNSIGNED,
    VECTOR,
    Case,
    F,
    G,
    assert_verdict,
    ints,
)
from tests.support.graphs import arena, constant
from tests.support.tables import for_each

LIKE_OTHERS = {"LSTM", "MAX_POOL_2D", "RESIZE_NEAREST_NEIGHBOR"}
"""Operators whose rules are those of others, or that have tests of their own."""

"""Operators whose rules are those of others, or that have tests of their own."""

CASES = [
    Case("CONV_2D", None, [F, FILTER, EIGHT], [G], STEPS),
    Case("CONV_2D", "Incorrect stride values: stride_height = 0, stride_width = 0", [F, FILTER, EIGHT], [G]),
    Case(
        "CONV_2D",
        "Expected 1 or 2 input tensor(s), but node has 0 runtime inputs.",
        [constant(np.ones((1, 4, 4, 8)), "FLOAT32"), FILTER],
        [G],
        STEPS,
    ),
    Case("CONV_2D", None, [F, POINT_WEIGHTS, EIGHT], [G], STEPS),
    Case("CONV_2D", "input must be a runtime tensor", [constant(np.ones((1, 4, 4, 8)), "FLOAT32"), FILTER, VECTOR], [G], STEPS),
    Case("CONV_2D", "Requested index goes beyond array size: 1 vs 1", [F], [G], STEPS),
    Case(
        "DEPTHWISE_CONV_2D", None, [F, constant(np.ones((1, 3, 3, 8)), "FLOAT32"), EIGHT], [G], {**STEPS, "depth_multiplier": 1}
    ),
    Case("DEPTHWISE_CONV_2D", "input.dims.size != 4", [MATRIX, FILTER, EIGHT], [G], {**STEPS, "depth_multiplier": 1}),
    Case("TRANSPOSE_CONV", None, [ints(1, 4, 4, 8), FILTER, F], [G], STRIDE),
    Case("TRANSPOSE_CONV", None, [ints(1, 4, 4, 8), arena("FLOAT32", 8, 3, 3, 8), F], [G], STRIDE),
    Case("AVERAGE_POOL_2D", None, [F], [G], POOL),
    Case("AVERAGE_POOL_2D", "Incorrect kernel values: kernel_height = 0, kernel_width = 0", [F], [G]),
    Case(
        "RESIZE_BILINEAR",
        "If half_pixel_centers is True, align_corners must be False.",
        [F, ints(8, 8)],
        [G],
        {"align_corners": True, "half_pixel_centers": True},
    ),
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


@for_each(CASES, lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert layers.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS
