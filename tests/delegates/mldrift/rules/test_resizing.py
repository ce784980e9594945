"""Rules of the family ``resizing``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.mldrift.rules import resizing
from tests.support.delegates.mldrift_rule_cases import Case, F, G, assert_verdict, ints

CASES = [
    Case(
        "RESIZE_BILINEAR",
        "If half_pixel_centers is True, align_corners must be False.",
        [F, ints(8, 8)],
        [G],
        {"align_corners": True, "half_pixel_centers": True},
    ),
]
LIKE_OTHERS = {"RESIZE_NEAREST_NEIGHBOR"}
"""Operators whose rules are those of others, or that have tests of their own."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert resizing.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS
