"""MediaPipe's custom operators."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import COMPATIBILITY, custom_pool_parameters
from ..build.reader import OHWI, NodeReader, Parser
from .checks import UP_TO_2, gpu_rule

_CASES = (COMPATIBILITY, COMPATIBILITY.with_symbol("CheckCustomOpsGpuDelegateCompatibility"))

RULES = {
    "Convolution2DTransposeBias": gpu_rule("TransposeConvCustomOperationParser", *layers.CUSTOM_TRANSPOSE_CONV, cases=_CASES),
    "MaxPoolingWithArgmax2D": gpu_rule(
        "Pooling2DOperationParser",
        *layers.MAX_POOLING_WITH_ARGMAX,
        version_in=UP_TO_2,
        cases=(*_CASES, COMPATIBILITY.with_symbol("CheckPooling2DGpuDelegateCompatibility")),
    ),
    "MaxUnpooling2D": gpu_rule("Unpooling2DOperationParser", *layers.MAX_UNPOOLING, cases=_CASES),
    "Resampler": gpu_rule("ResamplerOperationParser", *layers.RESAMPLER, cases=_CASES),
}


# Building the model


def parse_transpose_conv_bias(reader: NodeReader) -> None:
    """Parse Convolution2DTransposeBias (``TransposeConvCustomOperationParser``)."""
    reader.add_one_to_one("CONVOLUTION_TRANSPOSED")
    reader.read(1, OHWI)
    reader.read_bias(2)


def parse_pool_with_argmax(reader: NodeReader) -> None:
    """Parse pooling with indices as the second result (``Pooling2DOperationParser``)."""
    operation = reader.add("POOLING_2D")
    reader.add_input(operation, 0)
    reader.add_output(operation, 0)
    parameters = custom_pool_parameters(reader.view)
    reader.fuse_activation(operation, parameters.activation if parameters else "NONE")
    reader.add_output(operation, 1)


def parse_unpool(reader: NodeReader) -> None:
    """Parse unpooling (``Unpooling2DOperationParser``)."""
    _add_two_operands(reader, "MAX_UNPOOLING_2D")


def parse_resampler(reader: NodeReader) -> None:
    """Parse Resampler (``ResamplerOperationParser``)."""
    _add_two_operands(reader, "RESAMPLER")


def _add_two_operands(reader: NodeReader, kind: str) -> None:
    operation = reader.add(kind)
    reader.add_input(operation, 0)
    reader.add_input(operation, 1)
    reader.add_outputs(operation)


PARSERS: Mapping[str, Parser] = {
    "Convolution2DTransposeBias": parse_transpose_conv_bias,
    "MaxPoolingWithArgmax2D": parse_pool_with_argmax,
    "MaxUnpooling2D": parse_unpool,
    "Resampler": parse_resampler,
}
