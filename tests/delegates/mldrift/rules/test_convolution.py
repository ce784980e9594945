"""Rules of the family ``convolution``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.mldrift.rules import convolution
from tests.support.delegates.mldrift_rule_cases import (
    EIGHT,
    FILTER,
    MATRIX,
    POINT_WEIGHTS,
    STEPS,
    STRIDE,
    VECTOR,
    Case,
    F,
    G,
    assert_verdict,
    ints,
)
from tests.support.graphs import arena, constant

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
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert convolution.RULES.keys() - {case.op for case in CASES} == set()
