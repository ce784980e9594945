"""Rules of the family ``reshaping``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.mldrift.rules import reshaping
from tests.support.delegates.mldrift_rule_cases import INT32, Case, F, G, assert_verdict, ints, too_new

CASES = [
    Case("RESHAPE", None, [INT32, ints(1)], [INT32]),
    Case("RESHAPE", too_new(1, 2), [F], [G], version=2),
    Case("TRANSPOSE", None, [F, ints(0, 2, 1, 3)], [G]),
    Case("TRANSPOSE", "Permutation for transpose is invalid.", [F, ints(0)], [G]),
    Case("TRANSPOSE", "src has wrong size.", [F, ints(0, 1, 2, 3, kind="INT64")], [G]),
    Case("DEPTH_TO_SPACE", "DEPTH_TO_SPACE block_size = 1 is a no-op.", [F], [G], {"block_size": 1}),
    Case("SPACE_TO_DEPTH", "SPACE_TO_DEPTH block_size must be > 1.", [F], [G], {"block_size": 0}),
    Case("SPACE_TO_DEPTH", None, [F], [G], {"block_size": 2}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert reshaping.RULES.keys() - {case.op for case in CASES} == set()
