"""Rules of the families ``slicing`` and ``joining``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

from delegate_sim.delegates.mldrift.rules import slicing
from tests.support.delegates.mldrift_rule_cases import (
    AXIS,
    CUT,
    IMAGE,
    MATRIX,
    STARTS,
    STRIDES,
    Case,
    F,
    G,
    assert_verdict,
    ints,
    too_new,
)
from tests.support.graphs import arena
from tests.support.tables import for_each

CASES = [
    Case("SLICE", None, STARTS, [CUT], version=8),
    Case("SLICE", "Output height doesn't match", STARTS, [G]),
    Case("SLICE", "Invalid number of inputs: 2, while expected at least 3.", STARTS[:2], [CUT]),
    Case("SLICE", "Constant input is not supported.", [IMAGE, *STARTS[1:]], [CUT]),
    Case("SLICE", "The dimensionality of `starts` (3D) must match `sizes` (4D).", [F, ints(0, 0, 0), ints(1, 2, 4, 8)], [CUT]),
    Case("SLICE", "Slicing starts count must be 3 or 4 for 4d input", [F, ints(0, 0), ints(1, 2)], [CUT]),
    Case("SLICE", None, [F, ints(0, 0, 0), ints(2, -1, 8)], [CUT]),
    Case("STRIDED_SLICE", None, STRIDES, [CUT], version=2),
    Case("STRIDED_SLICE", too_new(2, 4), STRIDES, [CUT], version=4),
    Case("STRIDED_SLICE", "Slice does not support shrink_axis_mask parameter. ", STRIDES, [CUT], {"shrink_axis_mask": 1}),
    Case("STRIDED_SLICE", "STRIDED_SLICE requires 4 inputs.", STRIDES[:3], [CUT]),
    Case("STRIDED_SLICE", "STRIDED_SLICE input/params dimensions mismatch.", [MATRIX, *STRIDES[1:]], [CUT]),
    Case("STRIDED_SLICE", "Output shape mismatch", STRIDES, [G]),
    Case("STRIDED_SLICE", "stride values must be non-zero", [*STRIDES[:3], ints(1, 0, 1, 1)], [CUT]),
    Case("STRIDED_SLICE", "Reverse slices are not supported.", [*STRIDES[:3], ints(1, -1, 1, 1)], [CUT]),
    Case("REVERSE_V2", None, [F, ints(1)], [G]),
    Case("REVERSE_V2", AXIS, [F, ints(9)], [G]),
    Case("DYNAMIC_UPDATE_SLICE", None, [F, CUT, arena("INT32", 4)], [G]),
    Case("DYNAMIC_UPDATE_SLICE", "start_indices must be a runtime tensor", [F, CUT, ints(0, 0, 0, 0)], [G]),
    Case("DYNAMIC_UPDATE_SLICE", "start_indices must be of type int32.", [F, CUT, arena("INT64", 4)], [G]),
    Case(
        "DYNAMIC_UPDATE_SLICE",
        "Updated_slice shape must be less or equal to the array to update, but they are updated_slice: [1448], "
        "array_to_update: [1248]",
        [CUT, F, arena("INT32", 4)],
        [CUT],
    ),
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
    assert slicing.RULES.keys() - {case.op for case in CASES} == set()
