"""The kinds of problem that the TIM-VX delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem

CUSTOM_OPERATOR = Kind(
    "custom-operator",
    Problem.OPERATOR,
    "custom operator without a mapper",
    'Of custom operators the delegate takes only "vsi-npu", a network compiled beforehand. All others have the number 32 in '
    'its log ("Fallback unsupported op 32"), which does not tell one from another. They run on the CPU, with a kernel that the '
    "runtime has (for TFLite_Detection_PostProcess, for example) or that the application registers.",
    "At the end of a model, where post-processing usually is, it does no harm. Elsewhere convert without custom operators.",
    "leave it at the end of the model, or convert without custom operators",
)
DYNAMIC_SHAPE = Kind(
    "dynamic-shape",
    Problem.DYNAMIC_SHAPE,
    "tensor without dimensions, which counts as dynamic",
    "The delegate takes a tensor that has rank 0 in the file for one whose shape is not known yet. True scalars look the same "
    "and are refused too. A tensor that has dimensions passes, even if its size is known only at run time. SPLIT and SPLIT_V "
    "instead refuse a result that is allocated at run time, as STRING tensors are.",
    "Give the model fixed shapes before converting it; where the result is a scalar, keep a dimension of 1.",
    "fix the shapes before converting; keep a dimension of 1 where the result is a scalar",
)
KINDS = (
    kinds.OPERATOR.reworded(
        title="operator without a mapper",
        meaning='The delegate has no mapper for this builtin operator. Its own log says only "Fallback unsupported op" and a '
        "number.",
    ),
    CUSTOM_OPERATOR,
    kinds.TENSOR_TYPE.reworded(
        meaning="No operand may be INT64 or STRING and no result INT64 or INT16, whatever the operator; only BROADCAST_TO may "
        "have INT64 operands. Biases, axes and shapes count too: with 16-bit activations, convolutions usually have INT64 "
        "biases. Some operators refuse further types.",
        advice="Convert with 8-bit or float activations, and with INT32 for axes, shapes and indices.",
    ),
    kinds.HYBRID,
    kinds.RANK.reworded(
        meaning="No operand may have more than six dimensions, constants included; some operators demand an exact or an equal "
        "rank.",
    ),
    DYNAMIC_SHAPE,
    kinds.SHAPE.reworded(
        meaning="No operand or result may have a dimension of 0, and no operand a dimension over 65535 other than the first. "
        "Grouped convolutions do not take batches, and the batch cannot be sliced.",
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
        meaning="The operator does not convert between these quantized types, or needs parameters that the tensor lacks: a scale "
        "and a zero point where an 8-bit tensor has none, or a single scale where there is one for each channel.",
        advice="Quantize activations to 8 bits with one scale for the tensor, and do not pass weights through QUANTIZE or "
        "DEQUANTIZE.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
