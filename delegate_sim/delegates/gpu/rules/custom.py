"""MediaPipe's custom operators, which have parsers of their own."""

from __future__ import annotations

from ...gpu_compatibility import custom
from ...gpu_compatibility.checks import COMPATIBILITY
from .checks import UP_TO_2, gpu_rule

_CASES = (COMPATIBILITY.symbol, "CheckCustomOpsGpuDelegateCompatibility")

RULES = {
    "Convolution2DTransposeBias": gpu_rule("TransposeConvCustomOperationParser", *custom.TRANSPOSE_CONV, cases=_CASES),
    "MaxPoolingWithArgmax2D": gpu_rule(
        "Pooling2DOperationParser",
        *custom.MAX_POOLING_WITH_ARGMAX,
        version_in=UP_TO_2,
        cases=(*_CASES, "CheckPooling2DGpuDelegateCompatibility"),
    ),
    "MaxUnpooling2D": gpu_rule("Unpooling2DOperationParser", *custom.MAX_UNPOOLING, cases=_CASES),
    "Resampler": gpu_rule("ResamplerOperationParser", *custom.RESAMPLER, cases=_CASES),
}
