"""The kinds of problem that the TIM-VX delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem

CUSTOM_OPERATOR = Kind(
    "custom-operator",
    Problem.OPERATOR,
    "custom operator without a mapper",
    'The only supported custom operator is "vsi-npu", a network that was compiled beforehand. All other custom operators run on '
    "the CPU, with a kernel of the runtime or of the application. In the delegate's log, every custom operator has the number "
    '32 ("Fallback unsupported op 32").',
    "Keep a custom operator only at the end of the model, where it does not split the delegated part. Or convert the model "
    "without custom operators.",
    "leave the custom operator at the end of the model, or convert without custom operators",
)
DYNAMIC_SHAPE = Kind(
    "dynamic-shape",
    Problem.DYNAMIC_SHAPE,
    "tensor of rank 0, which counts as dynamic",
    "The delegate treats the shape of a tensor with rank 0 as unknown. Therefore, the delegate also refuses scalars. It "
    "accepts tensors with dimensions, even if their sizes are known only at run time. For SPLIT and SPLIT_V, it refuses only "
    "results that are allocated at run time, such as STRING tensors.",
    "Fix the shapes of the model before you convert it. If the result is a scalar, keep a dimension of size 1.",
    "fix the shapes before converting; if the result is a scalar, keep a dimension of size 1",
)
KINDS = (
    kinds.OPERATOR.reworded(
        title="operator without a mapper",
        meaning='The delegate has no mapper for this builtin operator. Its own log says only "Fallback unsupported op" and a '
        "number.",
    ),
    CUSTOM_OPERATOR,
    kinds.TENSOR_TYPE.reworded(
        meaning="Operands must not be INT64 or STRING, and results must not be INT64 or INT16. Only BROADCAST_TO may have INT64 "
        "operands. These limits also apply to axes, shapes and biases. With 16-bit activations, convolutions usually have INT64 "
        "biases. Some operators refuse further types.",
        advice="Convert with 8-bit or float activations, and with INT32 for axes, shapes and indices.",
    ),
    kinds.HYBRID,
    kinds.RANK.reworded(
        meaning="Operands, also constants, may have at most six dimensions. Some operators require a certain rank, "
        "or operands of equal rank.",
    ),
    DYNAMIC_SHAPE,
    kinds.SHAPE.reworded(
        meaning="Operands and results must not have a dimension of 0. All dimensions of an operand except the first are at most "
        "65535. Grouped convolutions need a batch of 1, and a slice must keep the whole batch.",
        advice="Split large dimensions with a RESHAPE, and run the model with a batch of 1.",
    ),
    kinds.CONSTANT,
    kinds.OPTIONAL_OPERAND.reworded(
        title="optional operand",
        meaning="Some optional operands of the operator must be present, and some must be omitted.",
        advice="Build the layer without projection and without auxiliary input.",
        hint="build the layer without projection and auxiliary input",
    ),
    kinds.ATTRIBUTE,
    kinds.QUANTIZATION.reworded(
        meaning="The operator cannot convert between these quantized types, or the quantization parameters are wrong. 8-bit "
        "tensors need a scale and a zero point. Some tensors must have a single scale.",
        advice="Quantize activations to 8 bits with one scale for each tensor. Do not convert weights with QUANTIZE or "
        "DEQUANTIZE.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
