"""Convolutions."""

from __future__ import annotations

from ....rules.numbers import at_most
from ...gpu_compatibility import convolution
from ...gpu_compatibility.checks import COMPATIBILITY
from .checks import UP_TO_3, gpu_rule

RULES = {
    "CONV_2D": gpu_rule("Conv2DOperationParser", *convolution.CONV_2D, version_in=at_most(6)),
    "DEPTHWISE_CONV_2D": gpu_rule(
        "DepthwiseConvolutionOperationParser",
        *convolution.DEPTHWISE_CONV_2D,
        version_in=at_most(6),
        cases=(COMPATIBILITY.symbol, "CheckDepthwiseConvGpuDelegateCompatibility"),
    ),
    "TRANSPOSE_CONV": gpu_rule("TransposeConvBuiltinOperationParser", *convolution.TRANSPOSE_CONV, version_in=UP_TO_3),
}
