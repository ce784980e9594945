"""Convolutions."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.number_sets import at_most
from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import COMPATIBILITY, runtime_input_count
from ..build.reader import OHWI, NodeReader, Parser, bhwc
from ..failures import build_error
from .checks import UP_TO_3, gpu_rule

RULES = {
    "CONV_2D": gpu_rule("Conv2DOperationParser", *layers.CONV_2D, version_in=at_most(6)),
    "DEPTHWISE_CONV_2D": gpu_rule(
        "DepthwiseConvolutionOperationParser",
        *layers.DEPTHWISE_CONV_2D,
        version_in=at_most(6),
        cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckDepthwiseConvGpuDelegateCompatibility")),
    ),
    "TRANSPOSE_CONV": gpu_rule("TransposeConvBuiltinOperationParser", *layers.TRANSPOSE_CONV, version_in=UP_TO_3),
}


# Building the model


def parse_conv_2d(reader: NodeReader) -> None:
    """Parse CONV_2D (``Conv2DOperationParser``).

    Upstream divides a grouped convolution into a SPLIT, convolutions and a CONCAT. This parser adds a single operation.
    """
    view = reader.view
    channels = bhwc(view.input(0))[3]
    has_runtime_weights = runtime_input_count(view) != 1
    weights = bhwc(view.input(1)) if has_runtime_weights else reader.read(1, OHWI)
    reader.read_bias(2)
    if has_runtime_weights:
        if channels != weights[3]:
            raise build_error("gpu-build-shape", view.input(1), needed=f"{channels} input channels, without groups")
        operation = reader.add("CONVOLUTION_2D")
        reader.add_input(operation, 0)
        reader.add_input(operation, 1)
    else:
        operation = reader.add("CONVOLUTION_2D")
        reader.add_input(operation, 0)
    reader.add_outputs(operation)
    reader.fuse_activation(operation)


def parse_depthwise_conv_2d(reader: NodeReader) -> None:
    """Parse DEPTHWISE_CONV_2D (``DepthwiseConvolutionOperationParser``)."""
    operation = reader.add_one_to_one("DEPTHWISE_CONVOLUTION")
    if runtime_input_count(reader.view) == 2:
        reader.add_input(operation, 1)
    else:
        reader.read(1, OHWI)
    reader.read_bias(2)
    reader.fuse_activation(operation)
    if runtime_input_count(reader.view) == 2 and reader.view.options.depth_multiplier != 1:
        # Upstream transposes the weights, so it needs their values.
        raise build_error("gpu-build-runtime-operand", reader.view.input(1))


def parse_transpose_conv(reader: NodeReader) -> None:
    """Parse TRANSPOSE_CONV (``TransposeConvBuiltinOperationParser``)."""
    operation = reader.add("CONVOLUTION_TRANSPOSED")
    reader.add_input(operation, 2)
    reader.add_outputs(operation)
    if runtime_input_count(reader.view) == 2:
        reader.add_input(operation, 1)
    else:
        reader.read(1, OHWI)
    reader.read_bias(3)


PARSERS: Mapping[str, Parser] = {
    "CONV_2D": parse_conv_2d,
    "DEPTHWISE_CONV_2D": parse_depthwise_conv_2d,
    "TRANSPOSE_CONV": parse_transpose_conv,
}
