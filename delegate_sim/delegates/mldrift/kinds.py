"""The kinds of problem that ML Drift's rules report, with ML Drift's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ..gpu_compatibility.kinds import OPERAND_COUNT, RANK

KINDS = (
    kinds.OPERATOR.reworded(
        meaning="ML Drift has no parser for this operator, custom operator or composite. If it is a composite, the GPU may still "
        "take nodes of the composite's body, which is a subgraph of its own.",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version, and switch it off in the converter. STRIDED_SLICE is supported only "
        "up to version 2. Converters since 2019 also write higher versions, for features that ML Drift ignores.",
    ),
    OPERAND_COUNT,
    kinds.CONSTANT.reworded(
        title="operand that must, or must not, be constant",
        meaning="ML Drift needs a constant operand, because it reads the value while it builds its model. Or it can read the "
        "operand only from GPU memory, where constants are not stored.",
        advice="Store the operand in the model as a constant, or fold the operator if all of its operands are constant.",
        hint="store the operand in the model as a constant, or fold the operator",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="Each operator supports certain types: always float and 8-bit types, and for many operators INT16, INT32, BOOL "
        "and others. INT64 and STRING are never supported. A tensor is checked both at the node that computes it and at "
        "the nodes that read it. The types of constants are not checked.",
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
        meaning="Quantized tensors that ML Drift converts to float must have one scale. Weights that it keeps quantized must "
        "have 8, 4 or 2 bits and the shape of a matrix.",
        advice="Quantize activations with one scale. Quantize the weights of matrix products to INT8 or INT4.",
        hint="quantize activations with one scale, and weights to INT8 or INT4",
    ),
    kinds.NEIGHBOR.reworded(
        title="unsupported combination of operands",
        meaning="The node reads the same tensor twice, or it reads the result of an operator that ML Drift no longer folds.",
        advice="Replace the operator by an operator with a single operand, or convert without sparse weights.",
        hint="use an operator with a single operand, or convert without sparse weights",
    ),
)
"""Every kind of problem in the rules, with ML Drift's wording."""
