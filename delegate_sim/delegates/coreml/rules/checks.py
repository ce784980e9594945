"""What the Core ML rules have of their own beside the shared vocabulary (``delegates/coreml``).

The delegate gives no reasons, and stops at the first condition that a node does not meet. Where some of its functions cannot
find an operand they return an error status, which reads as "supported"; elsewhere the delegate uses such an operand as if the
node had it, and crashes. A rule demands such an operand with ``given``.
"""

from __future__ import annotations

from typing import Any

from ....rules import kinds
from ....rules.kinds import Kind, Problem
from ....rules.operands import operand
from ....rules.rule import Check, OpRule
from ....rules.source import LITERT, Source
from ....rules.vocabulary import fused_activation, given, max_version, refused_if, typed
from ..target import CoreMlTarget

SOURCE = Source(LITERT, "tflite/delegates/coreml/coreml_delegate.mm", "IsNodeSupportedByDelegate")

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
        meaning="The data must be FLOAT32. Weights may also be float16 constants. Quantised models do not run on this delegate.",
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
        advice="Run with a batch of 1, and flatten the input of a fully connected layer.",
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
"""Every kind of problem of the rules, in words that fit Core ML."""

FLOAT_TYPES = ("FLOAT32", "FLOAT16")

NO_SIGN_BIT = refused_if(
    kinds.ACTIVATION,
    "a fused activation other than SIGN_BIT",
    lambda node: fused_activation(node) == "SIGN_BIT",
    "fused SIGN_BIT",
)


def coreml_rule(*checks: Check[Any], source: tuple[Source, ...] = (), version: int = 1, data: int = 0) -> OpRule[CoreMlTarget]:
    """Return the rule of an operator: its version, the type of its data (the operand at this position), its own checks.

    ``source`` is where its own checks are, if anywhere else than those, and what this passes through.
    """
    common = (max_version(version), given(operand(data)), typed(operand(data), ("FLOAT32",)))
    return OpRule((*[check.from_source(SOURCE) for check in common], *checks), source=(*source, SOURCE))


def builder(file: str, symbol: str) -> Source:
    """Return a place among the sources of the layers."""
    return Source(LITERT, f"tflite/delegates/coreml/builders/{file}", symbol)
