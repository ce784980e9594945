"""Rules of the family ``reduction``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.mldrift.rules import shapes
from tests.support.delegates.mldrift_rule_cases import (
    AXIS,
    BOOL,
    DEEP,
    IMAGE,
    INT32,
    LAYOUT,
    MATRIX,
    Case,
    F,
    G,
    assert_verdict,
    ints,
    typed,
)
from tests.support.graphs import arena

CASES = [
    Case("MEAN", None, [F, ints(1, 2)], [arena("FLOAT32", 1, 8)]),
    Case("MEAN", AXIS, [F, ints(4)], [arena("FLOAT32", 1, 8)]),
    Case("MEAN", "Expected 1 const input tensor(s), but node has 0 const input(s).", [F, arena("INT32", 1)], [MATRIX]),
    Case("MEAN", "MEAN supports int32 tensor for axes. But node has INT64", [F, ints(1, kind="INT64")], [MATRIX]),
    Case("SUM", LAYOUT, [DEEP, ints(1)], [F]),
    Case("REDUCE_ALL", None, [BOOL, ints(1)], [arena("BOOL", 1, 4, 8)]),
    Case("ARG_MAX", None, [F, ints(1)], [arena("INT32", 1, 4, 8)]),
    Case("ARG_MAX", None, [INT32, ints(1)], [arena("INT32", 1, 4, 8)]),
    Case("ARG_MAX", typed("INT32", "i"), [INT32, ints(1)], [arena("INT32", 1, 4, 8)], release="litert-2.2.0"),
    Case("ARG_MAX", "[2]  cannot be reduced to scalar.", [F, ints(1, 2)], [arena("INT32", 1, 4, 8)]),
    *[
        Case(
            "ARG_MAX",
            "Expected 1 const input tensor(s), but node has 2 const input(s).",
            [IMAGE, ints(1)],
            [arena("INT32", 4, 8)],
            release=release,
        )
        for release in ("litert-2.1.3", "litert-2.1.5")
    ],
    Case("CUMSUM", "Input/output must be float type and indices must be constant int32 type", [F, arena("INT32", 1)], [G]),
    Case("ARG_MIN", "Operation is not supported.", [F, ints(1)], [INT32]),
]
LIKE_OTHERS = {"REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"}
"""Operators whose rules are those of others, or that have tests of their own."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert shapes.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS
