"""Reductions and running sums."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.vocabulary import where
from ...gpu_compatibility import arithmetic
from ..build_problems import BuildProblems
from ..failures import AXES
from .checks import (
    BOOL,
    INPUT_AXES,
    INT32,
    RANKED_RESULT,
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    SIGNED,
    SINCE_2_2,
    SINCE_2_3,
    USUAL_INPUTS,
    available,
    axes,
    before,
    integer_constant,
    integers,
    only_tensors,
    other_inputs,
    parsed_by,
    readable,
    results,
    runtime_inputs,
    since,
    tensors,
    version_up_to,
)


def _drops_dimensions(node: NodeView) -> bool:
    return not node.options.keep_dims


_AFTER_AXES = (
    *readable(0),
    INPUT_AXES,
    *where(_drops_dimensions, "without keep_dims", *RANKED_RESULT),
    *RESULTS,
)
_LOGICAL = parsed_by("ReduceOperationParser", *arithmetic.REDUCTION, *_AFTER_AXES, all_tensors=only_tensors(BOOL, BOOL))
_REDUCTION = parsed_by("ReduceOperationParser", *arithmetic.REDUCTION, *_AFTER_AXES, all_tensors=tensors(*SIGNED))

RULES = {
    "ARG_MAX": parsed_by(
        "ArgMaxOperationParser",
        results(1),
        *before(SINCE_2_2, other_inputs(1)),
        *since(SINCE_2_2, runtime_inputs(1), other_inputs(1)),
        *RESULTS_FROM_2_1_5,
        *integer_constant(1, "scalar"),
        available(0),
        axes("the input", lambda node: node.input(0), lambda node: integers(node, 1)[:1]),
        *readable(0),
        *RESULTS_BEFORE_2_1_5,
        all_tensors=only_tensors(USUAL_INPUTS, INT32, (SINCE_2_3, (*USUAL_INPUTS, *INT32))),
    ),
    "CUMSUM": parsed_by(
        "CumsumOperationParser", *version_up_to(1), *arithmetic.CUMSUM, *RESULTS_FROM_2_1_5, *readable(0), *RESULTS_BEFORE_2_1_5
    ),
    "MEAN": parsed_by("ReduceOperationParser", *arithmetic.MEAN, *_AFTER_AXES),
    "REDUCE_ALL": _LOGICAL,
    "REDUCE_ANY": _LOGICAL,
    "REDUCE_MAX": _REDUCTION,
    "REDUCE_MIN": _REDUCTION,
    "REDUCE_PROD": _REDUCTION,
    "SUM": _REDUCTION,
}


# Building the model


def _unusable_axis(node: NodeView) -> Iterator[Refusal]:
    if any(not 0 <= axis + 4 - node.input(0).rank < 4 for axis in integers(node, 1)[:1]):
        yield AXES.failure(node.input(1))


BUILD_PROBLEMS: BuildProblems = {"CUMSUM": _unusable_axis}
