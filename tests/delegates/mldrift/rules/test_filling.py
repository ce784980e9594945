"""Rules of the family ``filling``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.mldrift.rules import filling
from tests.support.delegates.mldrift_rule_cases import IDS, ONE, ROWS, Case, F, G, assert_verdict, ints
from tests.support.graphs import arena

CASES = [
    Case("TILE", None, [F, ints(1, 1, 1, 2)], [G]),
    Case("ONE_HOT", None, [IDS, ints(8), ONE, ONE], [ROWS], {"axis": -1}),
    Case("ONE_HOT", "OneHot axis must be -1 or the last dimension.", [IDS, ints(8), ONE, ONE], [ROWS], {"axis": 1}),
    Case(
        "ONE_HOT",
        "Unspported non-singleton dim at 0",
        [arena("INT32", 2, 3), ints(8), ONE, ONE],
        [ROWS],
        {"axis": -1},
        release="litert-2.1.5",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert filling.RULES.keys() - {case.op for case in CASES} == set()
