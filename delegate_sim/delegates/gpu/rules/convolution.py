"""Convolutions, pooling and resizing."""

from __future__ import annotations

from ....rules.numbers import at_most
from ...gpu_compatibility import convolution
from ...gpu_compatibility.checks import COMPATIBILITY
from .checks import UP_TO_2, UP_TO_3, gpu_rule

_POOL = gpu_rule(
    "Pooling2DOperationParser",
    *convolution.POOL_2D,
    version_in=UP_TO_2,
    cases=(COMPATIBILITY.symbol, "CheckPooling2DGpuDelegateCompatibility"),
)

RULES = {
    "AVERAGE_POOL_2D": _POOL,
    "CONV_2D": gpu_rule("Conv2DOperationParser", *convolution.CONV_2D, version_in=at_most(6)),
    "DEPTHWISE_CONV_2D": gpu_rule(
        "DepthwiseConvolutionOperationParser",
        *convolution.DEPTHWISE_CONV_2D,
        version_in=at_most(6),
        cases=(COMPATIBILITY.symbol, "CheckDepthwiseConvGpuDelegateCompatibility"),
    ),
    "MAX_POOL_2D": _POOL,
    "RESIZE_BILINEAR": gpu_rule("Resize2DOperationParser", *convolution.RESIZE_BILINEAR, version_in=UP_TO_3),
    "RESIZE_NEAREST_NEIGHBOR": gpu_rule("Resize2DOperationParser", *convolution.RESIZE_NEAREST_NEIGHBOR, version_in=UP_TO_3),
    "TRANSPOSE_CONV": gpu_rule("TransposeConvBuiltinOperationParser", *convolution.TRANSPOSE_CONV, version_in=UP_TO_3),
}
