"""The kinds of problem that the Hexagon delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.hints import by_reshape

OPERATOR = kinds.OPERATOR.reworded(
    meaning="The delegate has no layer for this operator. It also leaves SUM to the CPU, because the DSP's results are not exact "
    "enough.",
)
VERSION = kinds.VERSION.reworded(
    title="unsupported operator version",
    meaning="Most operators are supported in versions 1 and 2. RELU, RSQRT and SQUARED_DIFFERENCE are supported only in version "
    "2, which is the version for INT8 operands. A RELU with UINT8 operands therefore stays on the CPU.",
    advice="Convert with int8 activations, or turn off the feature that raised the version in the converter.",
    hint="convert so that the operator has a supported version",
)
KINDS = (
    OPERATOR,
    kinds.RANK.reworded(
        title="more than four dimensions",
        meaning="Operands, constants and results may have at most four dimensions.",
        advice="Fold dimensions with a RESHAPE before the operator, and restore them after it.",
        hint=by_reshape("fold dimensions with RESHAPE"),
    ),
    VERSION,
    kinds.OPERAND_COUNT.reworded(
        meaning="The operator must have a fixed number of operands. This number includes omitted operands (tensor index -1).",
        advice="Give a convolution a bias of zeros. Use PAD instead of PADV2.",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="The DSP computes with 8-bit quantized tensors. Data and weights must be INT8 or UINT8. Biases, axes and "
        "shapes must be INT32. Float models and models with dynamic-range quantization do not run on the DSP.",
        advice="Quantize fully to int8 with a representative data set.",
        hint="quantize fully to int8",
    ),
    kinds.CONSTANT,
    kinds.ATTRIBUTE.reworded(
        meaning="The DSP's layer does not have this setting. Examples are strides over 3, dilated convolutions and large pooling "
        "windows.",
    ),
    kinds.ACTIVATION.reworded(
        meaning="Most operators are supported without a fused activation, or with RELU, RELU6 or RELU_N1_TO_1. Pooling and "
        "L2_NORMALIZATION are supported only without a fused activation.",
    ),
    kinds.QUANTIZATION.reworded(
        title="quantization parameters of weights",
        meaning="From LiteRT 2.1.5 on, FULLY_CONNECTED is supported only with one scale for all of its weights.",
        advice="Turn off per-channel quantization of fully connected layers, if the converter has an option for this.",
        hint="convert without per-channel quantization of fully connected layers",
    ),
    kinds.SHAPE.reworded(
        meaning="The filter of a depthwise convolution must have a height of at least 2. With a depth multiplier other than 1, "
        "the input must have a single channel.",
        advice="Change the layer in the model, for example by padding the filter with zeros.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
