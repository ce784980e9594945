"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.kinds import SHAPE
from ....rules.number_sets import counted
from ....rules.vocabulary import check
from ...gpu_compatibility import copying
from ...gpu_compatibility.checks import runtime_operands
from ..build_problems import BuildProblems
from ..failures import AXES
from .checks import (
    ANY_NUMBERS,
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    integer_constant,
    integers,
    other_inputs,
    parsed_by,
    readable,
    results,
    runtime_inputs,
    tensors,
    version_up_to,
)


def _permutation(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return None if 2 <= count <= 4 else f"a permutation of {counted(count, 'dimension')}"


_ANY = tensors(*ANY_NUMBERS)

RULES = {
    "DEPTH_TO_SPACE": parsed_by(
        "DepthToSpaceOperationParser", *copying.BLOCKS, *RESULTS_FROM_2_1_5, *readable(0), *RESULTS_BEFORE_2_1_5
    ),
    "RESHAPE": parsed_by(
        "ReshapeOperationParser", *version_up_to(1), runtime_operands(1, 1), *readable(0), *RESULTS, all_tensors=_ANY
    ),
    "SPACE_TO_DEPTH": parsed_by(
        "SpaceToDepthOperationParser",
        *version_up_to(2),
        *copying.BLOCKS,
        results(1),
        runtime_inputs(1),
        other_inputs(0),
        *RESULTS_FROM_2_1_5,
        *readable(0),
        *RESULTS_BEFORE_2_1_5,
    ),
    "TRANSPOSE": parsed_by(
        "TransposeOperationParser",
        *version_up_to(9, older=5),
        runtime_operands(1, 1),
        *readable(0),
        *RESULTS_FROM_2_1_5,
        *integer_constant(1, "linear"),
        check(SHAPE, "a permutation of 2 to 4 dimensions", _permutation).saying("Permutation for transpose is invalid."),
        *RESULTS_BEFORE_2_1_5,
        all_tensors=_ANY,
    ),
}


# Building the model


def _negative_axes(node: NodeView) -> Iterator[Refusal]:
    if any(axis < 0 for axis in integers(node, 1)):
        yield AXES.failure(node.input(1))


BUILD_PROBLEMS: BuildProblems = {"TRANSPOSE": _negative_axes}
