"""The kinds of problem that the Hexagon delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds

OPERATOR = kinds.OPERATOR.reworded(
    meaning="The delegate has no layer for this operator, or it leaves the operator to the CPU because the results are not exact "
    "enough (SUM).",
)
VERSION = kinds.VERSION.reworded(
    title="unsupported operator version",
    meaning="Each operator is supported in certain versions only, most operators in versions 1 and 2. RELU, RSQRT and "
    "SQUARED_DIFFERENCE are supported only in version 2, the version for INT8 operands. A RELU with UINT8 operands "
    "therefore stays on the CPU.",
    advice="Convert with int8 activations; or find the feature that raised the version and switch it off in the converter.",
    hint="convert so that the operator has another version",
)
KINDS = (
    OPERATOR,
    kinds.RANK.reworded(
        title="more than four dimensions",
        meaning="No operand or result of any operator may have more than four dimensions, not even constants.",
        advice="Fold dimensions with a RESHAPE around the operator.",
        hint="fold dimensions with RESHAPE",
    ),
    VERSION,
    kinds.OPERAND_COUNT.reworded(
        meaning="The operator is supported with a fixed number of operands. An optional operand that the node leaves out still "
        "counts if the node has a place for it (tensor index -1).",
        advice="Give a convolution a bias of zeros; pad with PAD instead of PADV2.",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="The DSP computes with 8-bit quantized tensors: data and weights are INT8 or UINT8; biases, axes and shapes are "
        "INT32. Float models and models with dynamic-range quantization do not run on it.",
        advice="Quantize fully to int8 with a representative data set.",
        hint="quantize fully to int8",
    ),
    kinds.CONSTANT,
    kinds.ATTRIBUTE.reworded(
        meaning="The DSP's layer does not have this setting. Examples are strides over 3, dilated convolutions and large pooling "
        "windows.",
    ),
    kinds.ACTIVATION.reworded(
        meaning="Most operators are supported with a fused RELU, RELU6 or RELU_N1_TO_1, or without a fused activation. Pooling "
        "and L2_NORMALIZATION are supported only without one.",
    ),
    kinds.QUANTIZATION.reworded(
        title="quantization parameters of weights",
        meaning="From LiteRT 2.1.5 on, FULLY_CONNECTED is supported only with one scale for all of its weights.",
        advice="Convert without per-channel quantization of fully connected layers; some converters have a switch for it.",
        hint="convert without per-channel quantization of fully connected layers",
    ),
    kinds.SHAPE.reworded(
        meaning="The DSP's layer requires certain sizes: a filter height of at least 2 in depthwise convolutions, and a single "
        "input channel if there is a depth multiplier.",
        advice="Change the layer in the model, for example by padding the filter with zeros.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
