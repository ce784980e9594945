"""Rules of reductions, reshaping, padding, gathering and filling.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.mldrift.rules import shapes
from tests.support.delegates.mldrift_rule_cases import (
    AXIS,
    BOOL,
    DEEP,
    EIGHT,
    FLOAT_WEIGHTS,
    IDS,
    IMAGE,
    INT32,
    LAYOUT,
    MATRIX,
    ONE,
    PAIRS,
    ROWS,
    UNSIGNED,
    WIDE,
    Case,
    F,
    G,
    assert_verdict,
    ints,
    too_new,
    typed,
)
from tests.support.graphs import arena, constant
from tests.support.tables import for_each

LIKE_OTHERS = {"REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"}
"""Operators whose rules are those of others, or that have tests of their own."""

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
    Case("RESHAPE", None, [INT32, ints(1)], [INT32]),
    Case("RESHAPE", too_new(1, 2), [F], [G], version=2),
    Case("TRANSPOSE", None, [F, ints(0, 2, 1, 3)], [G]),
    Case("TRANSPOSE", "Permutation for transpose is invalid.", [F, ints(0)], [G]),
    Case("TRANSPOSE", "src has wrong size.", [F, ints(0, 1, 2, 3, kind="INT64")], [G]),
    Case("DEPTH_TO_SPACE", "DEPTH_TO_SPACE block_size = 1 is a no-op.", [F], [G], {"block_size": 1}),
    Case("SPACE_TO_DEPTH", "SPACE_TO_DEPTH block_size must be > 1.", [F], [G], {"block_size": 0}),
    Case("SPACE_TO_DEPTH", None, [F], [G], {"block_size": 2}),
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


def test_every_operator_has_cases():
    assert shapes.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS


@for_each(CASES, lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)
