"""Rules of the family ``gathering``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.mldrift.rules import gathering
from tests.support.delegates.mldrift_rule_cases import (
    BOOL,
    FLOAT_WEIGHTS,
    IDS,
    INT32,
    ROWS,
    UNSIGNED,
    WIDE,
    Case,
    F,
    G,
    assert_verdict,
    ints,
)
from tests.support.graphs import arena, constant

CASES = [
    Case("TOPK_V2", None, [F, ints(4)], [G, INT32]),
    Case("TOPK_V2", "TopK k must be scalar.", [F, ints(4, 5)], [G, INT32]),
    Case("TOPK_V2", "Expected 1 runtime input tensor(s), but node has 2 runtime input(s).", [F, arena("INT32")], [G, INT32]),
    Case("GATHER", None, [F, IDS], [G]),
    Case("GATHER", "Only support 1D indices", [F, arena("INT32", 2, 2)], [G]),
    Case("GATHER", "Only support 1D indices\n", [F, arena("INT32", 2, 2)], [G], release="litert-2.1.5"),
    Case("GATHER", "Only accept INT32 indices", [F, arena("INT64", 3)], [G]),
    Case("GATHER", "Input / output dtype mismatch.", [F, IDS], [INT32]),
    Case("EMBEDDING_LOOKUP", None, [IDS, FLOAT_WEIGHTS], [ROWS]),
    Case("EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP: Empty quantization params.", [IDS, constant(np.ones((8, 8)), "INT8")], [ROWS]),
    Case("EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP: Unsupported weights type.", [IDS, UNSIGNED], [ROWS]),
    Case("EMBEDDING_LOOKUP", "Expected 1D, but got 2D input #0.", [arena("INT32", 3, 1), FLOAT_WEIGHTS], [ROWS]),
    Case("EMBEDDING_LOOKUP", "Expected 8, but got 4 for output.dim[1].", [IDS, FLOAT_WEIGHTS], [arena("FLOAT32", 3, 4)]),
    Case("WHERE", "Operation is not supported.", [BOOL], [WIDE]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert gathering.RULES.keys() - {case.op for case in CASES} == set()
