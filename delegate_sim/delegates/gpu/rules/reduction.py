"""Reductions, and sums along an axis."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import TENSOR_TYPE
from ....rules.vocabulary import check, operand_count
from .checks import COMPATIBILITY, CONSTANT_INT32_AXES, FLOAT, UP_TO_1, gpu_rule, operands, runtime_operands


def _cumsum_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source in FLOAT and result == source else f"input {source}, output {result}"


_AXES = CONSTANT_INT32_AXES.from_source(COMPATIBILITY.with_symbol("CheckAxesAreInt32Const"))
_REDUCTION = gpu_rule(
    "ReduceOperationParser",
    runtime_operands(1, 1).before_release("litert-2.1.6"),
    operands(1, 1, 1).from_release("litert-2.1.6"),
    _AXES,
)

RULES = {
    "CUMSUM": gpu_rule(
        "CumsumOperationParser",
        operand_count(2, 1),
        check(TENSOR_TYPE, "input and output of one float type", _cumsum_types),
        CONSTANT_INT32_AXES,
        version_in=UP_TO_1,
        cases=(COMPATIBILITY.symbol, "CheckCumsumGpuDelegateCompatibility"),
    ),
    "MEAN": gpu_rule("MeanOperationParser", operands(1, 1, 1), _AXES),
    "REDUCE_MAX": _REDUCTION,
    "REDUCE_MIN": _REDUCTION,
    "REDUCE_PROD": _REDUCTION,
    "SUM": _REDUCTION,
}
