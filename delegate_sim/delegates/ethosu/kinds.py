"""The kinds of problem that the Ethos-U delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem
from ..simple_delegate import READS_BEYOND_OPERANDS

READS_COMPUTED_VALUE = Kind(
    "reads-computed-value",
    Problem.CONSTANT,
    "value that the delegate reads before it is computed",
    "The delegate reads the value of this operand while it checks the node. If the model file does not contain the value, the "
    "process crashes.",
    "Fix the shapes of the model before you convert it. The converter then stores the operand as a constant.",
    "fix the shapes before converting; the converter then stores this operand as a constant",
)
KINDS = (
    kinds.OPERATOR.reworded(
        meaning="The Ethos-U delegate has no entry for this operator. The only supported custom operator is ethos-u, a network "
        "that Vela compiled beforehand.",
    ),
    kinds.OPERAND_COUNT,
    kinds.TENSOR_TYPE.reworded(
        meaning="The NPU computes with quantized UINT8, INT8 and INT16 tensors. Only a few operators may have INT32 tensors.",
        advice="Quantize the model fully to INT8, with inputs and outputs of type INT8.",
        hint="quantize the model fully to INT8",
    ),
    kinds.RANK.reworded(
        meaning="No operand or result may have more than four dimensions, and only some operators may have scalars. Some "
        "operators require an exact rank.",
    ),
    kinds.SHAPE.reworded(
        meaning="Every dimension must be between 1 and 65,535, and most operators require a batch of 1. Some operators require "
        "further relations between shapes.",
        advice="Change the shapes in the model, and run it with a batch of 1.",
    ),
    kinds.BROADCAST,
    kinds.QUANTIZATION.reworded(
        meaning="Operands, weights and results must have scales and zero points. Only convolutions may have one scale for each "
        "channel. For some operators, operands and result must have equal scales and zero points.",
        advice="Quantize the model fully with a representative data set, and quantize the weights of FULLY_CONNECTED per tensor.",
    ),
    kinds.CONSTANT,
    kinds.OPTIONAL_OPERAND.reworded(
        title="optional operand",
        meaning="Some optional operands of the LSTM must be present, and all other optional operands must be omitted.",
        advice="Build the layer without CIFG, peepholes, projection and layer normalization.",
        hint="build the layer without CIFG, peepholes, projection and layer normalization",
    ),
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    READS_COMPUTED_VALUE,
    READS_BEYOND_OPERANDS,
)
"""Every kind of problem in the rules, with the delegate's wording."""
