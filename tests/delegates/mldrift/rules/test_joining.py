"""Rules of the family ``joining``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

from delegate_sim.delegates.mldrift.rules import joining
from tests.support.delegates.mldrift_rule_cases import AXIS, MATRIX, Case, F, G, assert_verdict, ints, too_new
from tests.support.graphs import arena
from tests.support.tables import for_each

CASES = [
    Case("CONCATENATION", None, [F, G], [arena("FLOAT32", 1, 4, 4, 16)]),
    Case("CONCATENATION", "Couldn't find an axis to concatenate by.", [F, arena("FLOAT32", 2, 5, 5, 9)], [G]),
    Case("CONCATENATION", too_new(2, 3), [F, G], [G], version=3, release="litert-2.1.5"),
    Case("PACK", None, [MATRIX, arena("FLOAT32", 2, 8)], [arena("FLOAT32", 2, 2, 8)], {"axis": -3}),
    Case("PACK", AXIS, [MATRIX, MATRIX], [arena("FLOAT32", 2, 2, 8)], {"axis": 3}),
    Case("PACK", None, [MATRIX], [arena("FLOAT32", 1, 2, 8)], {"axis": 9}),
    Case("UNPACK", None, [F], [G, G], {"num": 2, "axis": 1}),
    Case("UNPACK", AXIS, [F], [G, G], {"num": 2, "axis": 4}),
    Case("UNPACK", None, [F], [G], {"num": 1, "axis": 4}),
    Case("SPLIT", None, [ints(3), F], [G, G], {"num_splits": 2}),
    Case("SPLIT", AXIS, [ints(-5), F], [G, G], {"num_splits": 2}),
    Case("SPLIT", None, [ints(9), F], [G], {"num_splits": 1}),
    Case("SPLIT_V", None, [F, ints(4, 4), ints(3)], [G, G], {"num_splits": 2}),
    Case("SPLIT_V", AXIS, [F, ints(4, 4), ints(4)], [G, G], {"num_splits": 2}),
    Case("SPLIT_V", "Expected 2 const input tensor(s), but node has 1 const input(s).", [F, ints(4)], [G], {"num_splits": 1}),
]


@for_each(CASES, lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert joining.RULES.keys() - {case.op for case in CASES} == set()
