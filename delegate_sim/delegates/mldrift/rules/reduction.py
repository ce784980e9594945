"""Reductions, sums along an axis, and searches for the largest elements."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import CONSTANT
from ....rules.operands import operand
from ....rules.vocabulary import check, constant, operand_count, where
from ...gpu_compatibility import reduction
from ...gpu_compatibility.checks import COMPATIBILITY, runtime_operands
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


def _more_than_one(node: NodeView) -> str | None:
    found = node.input(1).element_count
    return None if found == 1 else f"k of {found} elements"


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
        "TOPK_V2": parsed_by(
            "TopKOperationParser",
            *version_up_to(1),
            runtime_operands(1, 2).from_source(COMPATIBILITY),
            *readable(0),
            available(1),
            constant(operand(1, "k")).saying("TopK k must be constant tensor."),
            check(CONSTANT, "k of one element", _more_than_one).saying("TopK k must be scalar."),
            operand_count(outputs=2).saying("TopK requires 2 output tensors"),
            *RESULTS,
        ),
    }
)
