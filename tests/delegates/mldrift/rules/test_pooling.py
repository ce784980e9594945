"""Rules of the family ``pooling``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.mldrift.rules import pooling
from tests.support.delegates.mldrift_rule_cases import POOL, Case, F, G, assert_verdict

CASES = [
    Case("AVERAGE_POOL_2D", None, [F], [G], POOL),
    Case("AVERAGE_POOL_2D", "Incorrect kernel values: kernel_height = 0, kernel_width = 0", [F], [G]),
]
LIKE_OTHERS = {"MAX_POOL_2D"}
"""Operators whose rules are those of others, or that have tests of their own."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert pooling.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS
