"""Reductions and running sums."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.vocabulary import where
from ...gpu_compatibility import reduction
from ..demands.checks import SINCE_2_2, other_inputs, results, runtime_inputs, since, version_up_to
from ..demands.parsing import parsed_by
from ..demands.reading import INPUT_AXES, RANKED_RESULT, RESULTS, available, axes, integer_constant, integers, readable
from ..demands.tensors import with_tensors


def _drops_dimensions(node: NodeView) -> bool:
    return not node.options.keep_dims


_AFTER_AXES = (
    *readable(0),
    INPUT_AXES,
    *where(_drops_dimensions, "without keep_dims", *RANKED_RESULT),
    *RESULTS,
)
_REDUCTION = parsed_by("ReduceOperationParser", *reduction.REDUCTION, *_AFTER_AXES)

RULES = with_tensors(
    {
        "ARG_MAX": parsed_by(
            "ArgMaxOperationParser",
            results(1),
            *since(SINCE_2_2, runtime_inputs(1), other_inputs(1)),
            *RESULTS,
            *integer_constant(1, "scalar"),
            available(0),
            axes("the input", lambda node: node.input(0), lambda node: integers(node, 1)[:1]),
            *readable(0),
        ),
        "CUMSUM": parsed_by("CumsumOperationParser", *version_up_to(1), *reduction.CUMSUM, *RESULTS, *readable(0)),
        "MEAN": parsed_by("ReduceOperationParser", *reduction.MEAN, *_AFTER_AXES),
        "REDUCE_ALL": _REDUCTION,
        "REDUCE_ANY": _REDUCTION,
        "REDUCE_MAX": _REDUCTION,
        "REDUCE_MIN": _REDUCTION,
        "REDUCE_PROD": _REDUCTION,
        "SUM": _REDUCTION,
    }
)
