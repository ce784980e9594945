"""Rules of the family ``padding``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.mldrift.rules import padding
from tests.support.delegates.mldrift_rule_cases import EIGHT, PAIRS, Case, F, G, assert_verdict
from tests.support.graphs import constant

CASES = [
    Case("PAD", None, [F, PAIRS], [G], version=5),
    Case("PAD", "Invalid paddings tensor shape: expected 4x2 or 3x2, got 2x2", [F, constant(np.zeros((2, 2)), "INT32")], [G]),
    Case("PAD", "src has wrong size.", [F, constant(np.zeros((4, 2)), "INT64")], [G]),
    Case("PADV2", "[8]  cannot be reduced to scalar.", [F, PAIRS, EIGHT], [G]),
    Case(
        "MIRROR_PAD",
        "Only Reflective padding is supported for Mirror Pad operation. But node has 2",
        [F, PAIRS],
        [G],
        {"mode": 1},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert padding.RULES.keys() - {case.op for case in CASES} == set()
