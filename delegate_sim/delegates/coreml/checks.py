"""The target, the kinds of problem and the checks of the Core ML rules (``delegates/coreml``).

The delegate gives no reasons, and stops at the first failed check. If an operand is missing, some functions of the delegate
return an error status. The delegate reads this status as "supported". All other functions crash, so their rules require the
operand with ``given``.
"""

from __future__ import annotations

from typing import NamedTuple

from ...graph.graph import fused_activation
from ...releases.catalogue import NEWEST, Release
from ...rules import kinds
from ...rules.kinds import Kind, Problem
from ...rules.operands import operand
from ...rules.rule import Check, OpRule
from ...rules.source import LITERT, Source
from ...rules.vocabulary import given, max_version, refused_if, typed

COREML_2 = 2
COREML_3 = 3


class CoreMlTarget(NamedTuple):
    """A target: the version of Core ML for the built models, and the release of the runtime."""

    coreml_version: int = COREML_3
    release: Release = NEWEST


SOURCE = Source(LITERT, "tflite/delegates/coreml/coreml_delegate.mm", "IsNodeSupportedByDelegate")
_VERSIONS = SOURCE.with_branch("registration->version > 1")
_DATA_TYPE = SOURCE.with_branch("->type != kTfLiteFloat32")

FLOAT_TYPES = ("FLOAT32", "FLOAT16")

NO_SIGN_BIT = refused_if(
    kinds.ACTIVATION,
    "a fused activation other than SIGN_BIT",
    lambda node: fused_activation(node) == "SIGN_BIT",
    "fused SIGN_BIT",
)


def coreml_rule(
    *checks: Check[CoreMlTarget], source: tuple[Source, ...] = (), version: int = 1, data: int = 0
) -> OpRule[CoreMlTarget]:
    """Return the rule of an operator.

    The rule first checks the version, then the type of the operand at position ``data``, then ``checks``. ``source`` lists the
    sources of ``checks``.
    """
    common = (
        max_version(version).from_source(_VERSIONS),
        given(operand(data)).from_source(_DATA_TYPE),
        typed(operand(data), ("FLOAT32",)).from_source(_DATA_TYPE),
    )
    return OpRule((*common, *checks), source=(*source, SOURCE))


def builder(file: str, symbol: str) -> Source:
    """Return a source location in ``delegates/coreml/builders``."""
    return Source(LITERT, f"tflite/delegates/coreml/builders/{file}", symbol)


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
