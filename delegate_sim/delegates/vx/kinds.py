"""The kinds of problem that the TIM-VX delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem

CUSTOM_OPERATOR = Kind(
    "custom-operator",
    Problem.OPERATOR,
    "custom operator without a mapper",
    'The only custom operator that the delegate supports is "vsi-npu", a network that was compiled beforehand. In the '
    'delegate\'s log, all other custom operators have the same number ("Fallback unsupported op 32"). They run on the CPU, with '
    "a kernel from the runtime (for example for TFLite_Detection_PostProcess) or from the application.",
    "At the end of a model, where post-processing usually is, the custom operator does no harm. Elsewhere, convert the model "
    "without custom operators.",
    "leave the custom operator at the end of the model, or convert without custom operators",
)
DYNAMIC_SHAPE = Kind(
    "dynamic-shape",
    Problem.DYNAMIC_SHAPE,
    "tensor of rank 0, which counts as dynamic",
    "If a tensor has rank 0 in the file, the delegate treats its shape as unknown. Scalars are refused for the same reason. "
    "A tensor with dimensions is accepted, even if its sizes are known only at run time. SPLIT and SPLIT_V have another "
    "rule: they refuse a result that is allocated at run time, such as a STRING tensor.",
    "Give the model fixed shapes before converting it. If the result is a scalar, keep a dimension of size 1.",
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
        meaning="No operand may be INT64 or STRING, and no result may be INT64 or INT16. The only exception is BROADCAST_TO, "
        "which may have INT64 operands. The rule includes biases, axes and shapes: with 16-bit activations, convolutions "
        "usually have INT64 biases. Some operators refuse further types.",
        advice="Convert with 8-bit or float activations, and with INT32 for axes, shapes and indices.",
    ),
    kinds.HYBRID,
    kinds.RANK.reworded(
        meaning="No operand may have more than six dimensions, not even a constant. Some operators require a certain rank, or "
        "operands of the same rank.",
    ),
    DYNAMIC_SHAPE,
    kinds.SHAPE.reworded(
        meaning="No operand or result may have a dimension of 0. In an operand, no dimension except "
        "the first may be over 65535. Grouped convolutions need a batch of 1, and a slice cannot cut the batch.",
        advice="Change the shapes in the model: fold or split large dimensions with a RESHAPE, and run with a batch of 1.",
    ),
    kinds.CONSTANT,
    kinds.OPTIONAL_OPERAND.reworded(
        title="optional operand",
        meaning="The operator is accepted only with, or only without, this optional operand.",
        advice="Build the layer without projection and without auxiliary input.",
        hint="build the layer without projection and auxiliary input",
    ),
    kinds.ATTRIBUTE,
    kinds.QUANTIZATION.reworded(
        meaning="The operator does not convert between these quantized types, or an 8-bit tensor has no scale and zero point, or "
        "a tensor has one scale for each channel but must have a single scale.",
        advice="Quantize activations to 8 bits with one scale for each tensor, and do not pass weights through QUANTIZE or "
        "DEQUANTIZE.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
