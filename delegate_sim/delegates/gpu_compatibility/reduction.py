"""Reductions, and sums along an axis."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import TENSOR_TYPE
from ...rules.vocabulary import check, operand_count
from .checks import COMPATIBILITY, CONSTANT_INT32_AXES, FLOAT, case, operands, runtime_operands


def _cumsum_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source in FLOAT and result == source else f"input {source}, output {result}"


_CUMSUM_SAYS = "Input/output must be float type and indices must be constant int32 type"
CUMSUM = case(
    operand_count(2, 1).saying("Expects 2 inputs and 1 output"),
    check(TENSOR_TYPE, "the same float type in input and output", _cumsum_types).saying(_CUMSUM_SAYS),
    CONSTANT_INT32_AXES.saying(_CUMSUM_SAYS),
    source=COMPATIBILITY.with_symbol("CheckCumsumGpuDelegateCompatibility"),
)
AXES = CONSTANT_INT32_AXES.from_source(COMPATIBILITY.with_symbol("CheckAxesAreInt32Const"))
MEAN = (operands(1, 1, 1), AXES)
REDUCTION = (
    runtime_operands(1, 1).before_release("litert-2.1.6"),
    operands(1, 1, 1).from_release("litert-2.1.6"),
    AXES,
)
