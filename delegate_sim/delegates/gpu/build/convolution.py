"""Parsers of convolutions, matrix products and pooling (``delegates/gpu/common/model_builder.cc``)."""

from __future__ import annotations

from ...gpu_compatibility.questions import runtime_input_count
from .model import BuildError
from .reader import HW, OHWI, NodeReader, bhwc, with_size


def parse_conv_2d(reader: NodeReader) -> None:
    """``Conv2DOperationParser``. Groups become a SPLIT, convolutions and a CONCAT; they count as one operation here."""
    view = reader.view
    channels = bhwc(view.input(0))[3]
    has_runtime_weights = runtime_input_count(view) != 1
    weights = bhwc(view.input(1)) if has_runtime_weights else reader.read(1, OHWI)
    reader.read_bias(2)
    if has_runtime_weights:
        if channels != weights[3]:
            raise BuildError("gpu-build-shape", view.input(1), needed=f"{channels} input channels, without groups")
        operation = reader.add("CONVOLUTION_2D")
        reader.add_input(operation, 0)
        reader.add_input(operation, 1)
    else:
        operation = reader.add("CONVOLUTION_2D")
        reader.add_input(operation, 0)
    reader.add_outputs(operation)
    reader.fuse_activation(operation)


def parse_depthwise_conv_2d(reader: NodeReader) -> None:
    """``DepthwiseConvolutionOperationParser``."""
    operation = reader.add_one_to_one("DEPTHWISE_CONVOLUTION")
    if runtime_input_count(reader.view) == 2:
        reader.add_input(operation, 1)
    else:
        reader.read(1, OHWI)
    reader.read_bias(2)
    reader.fuse_activation(operation)
    if runtime_input_count(reader.view) == 2 and reader.view.options.depth_multiplier != 1:
        # Transposing the weights needs their values.
        raise BuildError("gpu-build-runtime-operand", reader.view.input(1))


def parse_transpose_conv(reader: NodeReader) -> None:
    """``TransposeConvBuiltinOperationParser``."""
    operation = reader.add("CONVOLUTION_TRANSPOSED")
    reader.add_input(operation, 2)
    reader.add_outputs(operation)
    if runtime_input_count(reader.view) == 2:
        reader.add_input(operation, 1)
    else:
        reader.read(1, OHWI)
    reader.read_bias(3)


def parse_fully_connected(reader: NodeReader) -> None:
    """``FullyConnectedOperationParser``."""
    if runtime_input_count(reader.view) == 2:
        _parse_runtime_weights(reader)
        return
    operation = reader.add("FULLY_CONNECTED")
    *_, channels = reader.add_input(operation, 0).shape
    _, inputs = reader.read(1, HW)
    reader.read_bias(2)
    if channels != inputs:
        raise BuildError("gpu-build-shape", reader.view.input(1), needed=f"as many columns as the input has channels, {channels}")
    reader.add_outputs(operation)
    reader.fuse_activation(operation)


def _parse_runtime_weights(reader: NodeReader) -> None:
    """A convolution, followed by a RESHAPE if the result does not have the shape of a convolution's."""
    view = reader.view
    operation = reader.add("CONVOLUTION_2D")
    reader.add_input(operation, 0)
    reader.add_input(operation, 1)
    result, wanted = with_size(bhwc(view.input(0)), 3, bhwc(view.input(1))[0]), bhwc(view.output(0))
    if result == wanted:
        reader.add_outputs(operation)
    else:
        reader.add_reshaped_output(operation, result, 0)
    reader.read_bias(2)
    reader.fuse_activation(operation)


def parse_batch_matmul(reader: NodeReader) -> None:
    """``BatchedMatMulOperationParser``: a constant second operand makes it a convolution."""
    runtime = runtime_input_count(reader.view)
    if runtime == 2:
        operation = reader.add("BATCHED_MATMUL")
        reader.add_input(operation, 0)
        reader.add_input(operation, 1)
        reader.add_outputs(operation)
        return
    if runtime != 1 or not reader.is_constant(1) or reader.view.input(1).rank != 2:
        raise BuildError(
            "gpu-build-shape", reader.view.input(1), needed="a constant of rank 2, or two operands that are not constant"
        )
    reader.add_one_to_one("CONVOLUTION_2D")
    reader.read(1, HW)


def parse_pool(reader: NodeReader) -> None:
    """``Pooling2DOperationParser``."""
    operation = reader.add_one_to_one("POOLING_2D")
    reader.fuse_activation(operation)
