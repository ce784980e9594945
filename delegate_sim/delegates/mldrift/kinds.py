"""The kinds of problem that ML Drift's rules report, with ML Drift's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ..gpu_compatibility.kinds import OPERAND_COUNT, RANK

KINDS = (
    kinds.OPERATOR.reworded(
        meaning="ML Drift has no parser for this operator, custom operator or composite. A composite has a "
        "subgraph of its own; the GPU may take the nodes of that subgraph that it knows.",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version and switch it off in the converter. STRIDED_SLICE is taken up to "
        "version 2 only, although converters since 2019 write higher ones for features that ML Drift does not look at.",
    ),
    OPERAND_COUNT,
    kinds.CONSTANT.reworded(
        title="operand that must, or must not, be constant",
        meaning="ML Drift reads the value of this operand while it builds its model, or can read the operand only from GPU "
        "memory, where constants are not.",
        advice="Make the operand a constant of the model, or fold the operator if all of its operands are constant.",
        hint="make the operand a constant of the model, or fold the operator",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="Each operator takes tensors of certain types: float and 8-bit ones always, and for many operators INT16, INT32, "
        "BOOL and others. INT64 and STRING are never taken. A tensor is looked at both in the node that gives it and in those "
        "that read it. The types of constants are not looked at.",
        advice="Convert the model so that this tensor is float, INT32 or quantized to 8 bits. For INT64 indices and shapes, move "
        "the computation out of the model or into constants.",
        hint="convert the model so that the tensor is float, INT32 or quantized to 8 bits",
    ),
    RANK,
    kinds.SHAPE,
    kinds.BROADCAST,
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    kinds.QUANTIZATION.reworded(
        meaning="Tensors that are read as float have one scale, and weights that are read as they are have 8, 4 or 2 bits and "
        "the shape of a matrix.",
        advice="Quantize activations with one scale, and the weights of matrix products to INT8 or INT4.",
        hint="quantize activations with one scale, and weights to INT8 or INT4",
    ),
    kinds.NEIGHBOR.reworded(
        title="depends on what the operands are",
        meaning="The node reads one tensor twice, or the result of an operator that ML Drift no longer folds.",
        advice="Replace the operator by one of a single operand, or convert without sparse weights.",
        hint="use an operator of one operand, or convert without sparse weights",
    ),
)
"""Every kind of problem in the rules, with ML Drift's wording."""
