"""The kinds of problem that Core ML's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem

COREML_VERSION = Kind(
    "coreml-version",
    Problem.TARGET_LEVEL,
    "operator that is supported for Core ML 2 only",
    "RESHAPE is supported only for Core ML 2. With Core ML 3, the delegate leaves RESHAPE to the CPU.",
    "Set coreml_version to 2 if RESHAPE splits the model into too many partitions.",
    "set coreml_version to 2",
)
KINDS = (
    kinds.OPERATOR,
    kinds.VERSION.reworded(
        meaning="The delegate takes operators of version 1 only. The exceptions are DEPTHWISE_CONV_2D (up to version 2) and "
        "FULLY_CONNECTED (up to version 6). Converters raise the version when a node uses a newer feature, such as "
        "half_pixel_centers in RESIZE_BILINEAR, or a newer data type.",
    ),
    kinds.TENSOR_TYPE.reworded(
        title="type of an operand",
        meaning="Inputs and outputs must be FLOAT32. Weights may also be FLOAT16 constants. Quantized models do not run on this "
        "delegate.",
        advice="Convert a float32 model, or a model with float16 weights.",
        hint="convert a float model",
    ),
    kinds.OPERAND_COUNT.reworded(
        title="missing operand",
        meaning="The delegate reads this operand without checking that the node has the operand. If the operand is missing, the "
        "process crashes.",
        advice="Give the node the operand, for example a bias of zeros.",
        hint="give the node the operand; without it, the delegate crashes the process",
    ),
    kinds.CONSTANT.reworded(
        meaning="The value of this operand becomes part of the Core ML model, so it must be stored in the model file.",
    ),
    kinds.RANK,
    kinds.SHAPE.reworded(
        meaning="Core ML's layer requires certain sizes: FULLY_CONNECTED takes an input with one row, and filters are at most "
        "16384 wide and high.",
        advice="Run the model with a batch of 1. Replace a fully connected layer over a sequence by a convolution with 1x1 "
        "filters.",
    ),
    kinds.BROADCAST.reworded(
        meaning="The operands of ADD and MUL must have the same batch size, unless one of them is a constant scalar. They must "
        "have the same height and width, unless one operand has height 1 and width 1. They must have the same number of "
        "channels, unless one operand has a single channel. No operand may have more than four dimensions.",
        advice="Give both operands the same shape, for example by repeating the smaller one.",
    ),
    kinds.ATTRIBUTE.reworded(meaning="Core ML's layer does not have this setting."),
    kinds.ACTIVATION.reworded(
        meaning="Pooling and CONCATENATION are accepted only without a fused activation. No operator is accepted with the fused "
        "activation SIGN_BIT.",
    ),
    COREML_VERSION,
)
"""Every kind of problem in the rules, with the delegate's wording."""
