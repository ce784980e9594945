"""The kinds of problem that ML Drift's rules report, with ML Drift's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ..gpu_compatibility.checks import OPERAND_COUNT, RANK

KINDS = (
    kinds.OPERATOR.reworded(
        meaning="ML Drift has no parser for this operator, custom operator or composite. The GPU may still take nodes of a "
        "composite's body, because the body is a separate subgraph.",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version, and turn it off in the converter. STRIDED_SLICE is supported only up "
        "to version 2, but converters since 2019 also write higher versions.",
    ),
    OPERAND_COUNT,
    kinds.CONSTANT.reworded(
        title="operand that must, or must not, be constant",
        meaning="Some operands must be constants, because ML Drift reads their values while it builds its model. Other operands "
        "must not be constants, because ML Drift reads them from GPU memory.",
        advice="Store the operand in the model as a constant. If all operands are constant, fold the operator into a constant.",
        hint="store the operand in the model as a constant, or fold the operator into a constant",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="All operators support float and 8-bit types. Many operators also support INT16, INT32, BOOL and further "
        "types. INT64 and STRING are never supported. ML Drift checks a tensor at the node that computes it and at the "
        "nodes that read it. ML Drift does not check the types of constants.",
        advice="Convert the model so that this tensor is float, INT32 or quantized to 8 bits. Move computations of INT64 indices "
        "and shapes out of the model, or store the results as constants.",
        hint="convert the model so that the tensor is float, INT32 or quantized to 8 bits",
    ),
    RANK,
    kinds.SHAPE,
    kinds.BROADCAST,
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    kinds.QUANTIZATION.reworded(
        meaning="If ML Drift converts a quantized tensor to float, the tensor must have one scale. If ML Drift keeps weights "
        "quantized, they must have 8, 4 or 2 bits and the shape of a matrix.",
        advice="Quantize activations with one scale. Quantize the weights of matrix products to INT8 or INT4.",
        hint="quantize activations with one scale, and weights to INT8 or INT4",
    ),
    kinds.NEIGHBOR.reworded(
        title="unsupported combination of operands",
        meaning="The node reads the same tensor twice, or it reads the result of a DENSIFY.",
        advice="Replace the operator by an operator with a single operand, or convert without sparse weights.",
        hint="use an operator with a single operand, or convert without sparse weights",
    ),
)
"""Every kind of problem in the rules, with ML Drift's wording."""
