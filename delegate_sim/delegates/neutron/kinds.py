"""The kinds of problem that the Neutron delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem
from ..simple_delegate import READS_BEYOND_OPERANDS

READS_MISSING_SIZES = Kind(
    "reads-missing-sizes",
    Problem.RANK,
    "tensor without dimensions in pooling or padding",
    "For pooling and padding, the delegate reads the sizes of input and output without checking that these tensors have "
    "dimensions. If a tensor has no dimensions, the process crashes.",
    "Fix the shapes of the model before you convert it.",
    "fix the shapes before converting",
)
COMPILED_ELSEWHERE = Kind(
    "beside-compiled-network",
    Problem.NEIGHBORS,
    "node beside a compiled network",
    "A NeutronGraph is a network that NXP's converter compiled beforehand. If a graph has a NeutronGraph, the delegate takes no "
    "other nodes.",
    "Compile the whole model with NXP's converter. Nodes that the converter does not compile run on the CPU.",
    "compile the whole model with NXP's converter",
)
KINDS = (
    kinds.OPERATOR.reworded(
        meaning="The delegate has no entry for this operator. The only supported custom operator is NeutronGraph, a network that "
        "NXP's converter compiled beforehand.",
    ),
    kinds.OPERAND_COUNT,
    kinds.TENSOR_TYPE.reworded(
        meaning="Operands and results must be INT8 or UINT8, and biases INT32.",
        advice="Quantize the model fully to INT8, with inputs and outputs of type INT8.",
        hint="quantize the model fully to INT8",
    ),
    kinds.RANK,
    kinds.SHAPE,
    kinds.CONSTANT,
    kinds.OPTIONAL_OPERAND,
    kinds.ATTRIBUTE,
    COMPILED_ELSEWHERE,
    READS_MISSING_SIZES,
    READS_BEYOND_OPERANDS,
)
"""Every kind of problem in the rules, with the delegate's wording."""
