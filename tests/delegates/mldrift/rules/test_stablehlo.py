"""Rules of the family ``stablehlo``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

from delegate_sim.delegates.mldrift.rules import stablehlo
from tests.support.delegates.mldrift_rule_cases import INT32, VECTOR, Case, F, G, assert_verdict, ints
from tests.support.graphs import arena
from tests.support.tables import for_each

CASES = [
    Case("STABLEHLO_SHIFT_LEFT", None, [INT32, arena("INT32", 1, 4, 4, 8)], [INT32]),
    Case("STABLEHLO_CBRT", None, [F], [G]),
    Case("STABLEHLO_CBRT", "Only support float inputs", [INT32], [INT32]),
    Case("STABLEHLO_CBRT", "Input and output types must match", [F], [arena("FLOAT16", 1, 4, 4, 8)]),
    Case("STABLEHLO_CLAMP", None, [F, G, arena("FLOAT32", 1, 4, 4, 8)], [F]),
    Case("STABLEHLO_CLAMP", "Clamp tensors must all be the same type", [INT32, F, G], [F]),
    Case("STABLEHLO_CLAMP", "Min tensor must be the same shape as the input, or a scalar", [VECTOR, F, G], [F]),
    Case("STABLEHLO_CLAMP", "Max tensor must be the same shape as the input, or a scalar", [F, G, VECTOR], [F]),
    Case("STABLEHLO_REMAINDER", None, [F, G], [F]),
    Case("STABLEHLO_BROADCAST_IN_DIM", None, [VECTOR, ints(3)], [G]),
    Case("STABLEHLO_BROADCAST_IN_DIM", "Require 0 <= index val < rank(result)", [VECTOR, ints(4)], [G]),
    Case("STABLEHLO_BROADCAST_IN_DIM", "Require size(indices) = rank(operand)", [VECTOR, ints(2, 3)], [G]),
    Case("STABLEHLO_BROADCAST_IN_DIM", "Index values must be unique", [arena("FLOAT32", 4, 4), ints(1, 1)], [G]),
]
LIKE_OTHERS = {"STABLEHLO_COMPOSITE"}
"""Operators whose rules are those of others, or that have tests of their own."""


@for_each(CASES, lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert stablehlo.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS
