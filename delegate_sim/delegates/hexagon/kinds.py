"""The kinds of problem that the Hexagon delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds

OPERATOR = kinds.OPERATOR.reworded(
    meaning="The delegate has no layer for this operator, or leaves it out because its results are not exact enough (SUM).",
)
VERSION = kinds.VERSION.reworded(
    title="operator version that is not taken",
    meaning="Each operator is taken in certain versions only, most in versions 1 and 2. RELU, RSQRT and "
    "SQUARED_DIFFERENCE are taken only in version 2, the version for int8 operands. With uint8 operands RELU stays on the CPU.",
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
        meaning="The operator is taken with a fixed number of operands; optional ones that are left out count if the node names "
        "them.",
        advice="Give a convolution a bias of zeros; pad with PAD instead of PADV2.",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="The DSP computes with 8-bit quantized tensors: data and weights are INT8 or UINT8, biases, axes and shapes "
        "INT32. Float models and dynamic-range quantized ones do not run on it.",
        advice="Quantize fully to int8 with a representative data set.",
        hint="quantize fully to int8",
    ),
    kinds.CONSTANT,
    kinds.ATTRIBUTE.reworded(
        meaning="The DSP's layer does not have this setting: strides over 3, dilated convolutions, large pooling windows and "
        "the like.",
    ),
    kinds.ACTIVATION.reworded(
        meaning="Most operators are taken with a fused RELU, RELU6 or RELU_N1_TO_1 or none; pooling and L2_NORMALIZATION only "
        "with none.",
    ),
    kinds.QUANTIZATION.reworded(
        title="quantization parameters of weights",
        meaning="From LiteRT 2.1.5 on FULLY_CONNECTED is taken only with one scale for all of its weights.",
        advice="Convert without per-channel quantization of fully connected layers; some converters have a switch for it.",
        hint="convert without per-channel quantization of fully connected layers",
    ),
    kinds.SHAPE.reworded(
        meaning="The DSP's layer demands certain sizes: filters of depthwise convolutions at least 2 high, and a single input "
        "channel where a depth multiplier is used.",
        advice="Change the layer in the model, for example by padding the filter with zeros.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
