"""The kinds of problem that Core ML's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem

COREML_VERSION = Kind(
    "coreml-version",
    Problem.TARGET_LEVEL,
    "operator for Core ML 2 only",
    "RESHAPE is accepted only when models are made for Core ML 2; from version 3 on the delegate leaves it to the CPU.",
    "Set coreml_version to 2 where RESHAPE splits the model into too many partitions.",
    "set coreml_version to 2",
)
KINDS = (
    kinds.OPERATOR,
    kinds.VERSION.reworded(
        meaning="The delegate takes operators in version 1 only, except for DEPTHWISE_CONV_2D (2) and FULLY_CONNECTED (6). "
        "Converters raise the version when a node uses a newer feature: half_pixel_centers in RESIZE_BILINEAR, in many operators "
        "a data type.",
    ),
    kinds.TENSOR_TYPE.reworded(
        title="type of an operand",
        meaning="The data must be FLOAT32. Weights may also be float16 constants. Quantized models do not run on this delegate.",
        advice="Convert a float32 model, or one with float16 weights.",
        hint="convert a float model",
    ),
    kinds.OPERAND_COUNT.reworded(
        title="operand left out",
        meaning="The delegate looks at this operand whether or not the node has it, and crashes the process if it does not.",
        advice="Give the node the operand, for example a bias of zeros.",
        hint="give the node the operand; without it the delegate crashes the process",
    ),
    kinds.CONSTANT.reworded(
        meaning="The value of this operand becomes part of the Core ML model, so it must be stored in the model file.",
    ),
    kinds.RANK,
    kinds.SHAPE.reworded(
        meaning="Core ML's layer demands certain sizes: FULLY_CONNECTED takes one row of input, and filters are at most 16384 "
        "wide and high.",
        advice="Run with a batch of 1, and a fully connected layer over a sequence as a convolution of 1 by 1.",
    ),
    kinds.BROADCAST.reworded(
        meaning="Operands of ADD and MUL must have equal batches, unless one is a constant number; equal height and width, "
        "unless both are 1 in one operand; and equal channels, unless one operand has a single channel. No operand may have "
        "more than four dimensions.",
        advice="Give both operands the same shape, for example by repeating the smaller one.",
    ),
    kinds.ATTRIBUTE.reworded(meaning="Core ML's layer does not have this setting."),
    kinds.ACTIVATION.reworded(
        meaning="Pooling and CONCATENATION are accepted only without a fused activation, and no operator with SIGN_BIT.",
    ),
    COREML_VERSION,
)
"""Every kind of problem in the rules, with the delegate's wording."""
