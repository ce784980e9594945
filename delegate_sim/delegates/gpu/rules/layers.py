"""Convolutions, pooling, resizing, matrix products and custom operators."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import COMPATIBILITY, custom_pool_parameters, runtime_input_count
from ..build.reader import HW, OHWI, NodeReader, Parser, bhwc, parse_one_to_one, with_size
from ..failures import build_error
from .checks import gpu_rule

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
        operation = reader.add("CONVOLUTION_2D", channels // weights[3] if weights[3] else None)
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


_POOL = gpu_rule(
    "Pooling2DOperationParser",
    *layers.POOL_2D,
    version_up_to=2,
    cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckPooling2DGpuDelegateCompatibility")),
)


# Building the model


def parse_pool(reader: NodeReader) -> None:
    """Parse pooling (``Pooling2DOperationParser``)."""
    operation = reader.add_one_to_one("POOLING_2D")
    reader.fuse_activation(operation)


# Building the model


# Building the model


def parse_fully_connected(reader: NodeReader) -> None:
    """Parse FULLY_CONNECTED (``FullyConnectedOperationParser``)."""
    if runtime_input_count(reader.view) == 2:
        _parse_runtime_weights(reader)
        return
    operation = reader.add("FULLY_CONNECTED")
    *_, channels = reader.add_input(operation, 0).shape
    _, inputs = reader.read(1, HW)
    reader.read_bias(2)
    if channels != inputs:
        raise build_error(
            "gpu-build-shape", reader.view.input(1), needed=f"as many columns as the input has channels ({channels})"
        )
    reader.add_outputs(operation)
    reader.fuse_activation(operation)


def _parse_runtime_weights(reader: NodeReader) -> None:
    view = reader.view
    operation = reader.add("CONVOLUTION_2D")
    reader.add_input(operation, 0)
    reader.add_input(operation, 1)
    result, shape = with_size(bhwc(view.input(0)), 3, bhwc(view.input(1))[0]), bhwc(view.output(0))
    if result == shape:
        reader.add_outputs(operation)
    else:
        reader.add_reshaped_output(operation, result, 0)
    reader.read_bias(2)
    reader.fuse_activation(operation)


def parse_batch_matmul(reader: NodeReader) -> None:
    """Parse BATCH_MATMUL (``BatchedMatMulOperationParser``).

    If the second operand is constant, add a convolution instead of a matrix product.
    """
    runtime = runtime_input_count(reader.view)
    if runtime == 2:
        operation = reader.add("BATCHED_MATMUL")
        reader.add_input(operation, 0)
        reader.add_input(operation, 1)
        reader.add_outputs(operation)
        return
    if runtime != 1 or not reader.is_constant(1) or reader.view.input(1).rank != 2:
        raise build_error(
            "gpu-build-shape", reader.view.input(1), needed="a constant of rank 2, or two operands that are not constant"
        )
    reader.add_one_to_one("CONVOLUTION_2D")
    reader.read(1, HW)


_CASES = (COMPATIBILITY, COMPATIBILITY.with_symbol("CheckCustomOpsGpuDelegateCompatibility"))

CUSTOM_RULES = {
    "Convolution2DTransposeBias": gpu_rule("TransposeConvCustomOperationParser", *layers.CUSTOM_TRANSPOSE_CONV, cases=_CASES),
    "MaxPoolingWithArgmax2D": gpu_rule(
        "Pooling2DOperationParser",
        *layers.MAX_POOLING_WITH_ARGMAX,
        version_up_to=2,
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


RULES = {
    "CONV_2D": gpu_rule("Conv2DOperationParser", *layers.CONV_2D, version_up_to=6),
    "DEPTHWISE_CONV_2D": gpu_rule(
        "DepthwiseConvolutionOperationParser",
        *layers.DEPTHWISE_CONV_2D,
        version_up_to=6,
        cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckDepthwiseConvGpuDelegateCompatibility")),
    ),
    "TRANSPOSE_CONV": gpu_rule("TransposeConvBuiltinOperationParser", *layers.TRANSPOSE_CONV, version_up_to=3),
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
    "RESIZE_BILINEAR": gpu_rule("Resize2DOperationParser", *layers.RESIZE_BILINEAR, version_up_to=3),
    "RESIZE_NEAREST_NEIGHBOR": gpu_rule("Resize2DOperationParser", *layers.RESIZE_NEAREST_NEIGHBOR, version_up_to=3),
    "BATCH_MATMUL": gpu_rule("BatchedMatMulOperationParser", *layers.BATCH_MATMUL),
    "FULLY_CONNECTED": gpu_rule("FullyConnectedOperationParser", *layers.FULLY_CONNECTED, version_up_to=9),
}

PARSERS: Mapping[str, Parser] = {
    "CONV_2D": parse_conv_2d,
    "DEPTHWISE_CONV_2D": parse_depthwise_conv_2d,
    "TRANSPOSE_CONV": parse_transpose_conv,
    "AVERAGE_POOL_2D": parse_pool,
    "MAX_POOL_2D": parse_pool,
    "RESIZE_BILINEAR": parse_one_to_one,
    "RESIZE_NEAREST_NEIGHBOR": parse_one_to_one,
    "BATCH_MATMUL": parse_batch_matmul,
    "FULLY_CONNECTED": parse_fully_connected,
    "Convolution2DTransposeBias": parse_transpose_conv_bias,
    "MaxPoolingWithArgmax2D": parse_pool_with_argmax,
    "MaxUnpooling2D": parse_unpool,
    "Resampler": parse_resampler,
}
