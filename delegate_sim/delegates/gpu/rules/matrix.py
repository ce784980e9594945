"""Matrix products and diagonals."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.number_sets import at_most
from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import runtime_input_count
from ..build.reader import HW, NodeReader, Parser, bhwc, with_size
from ..failures import build_error
from .checks import gpu_rule

RULES = {
    "BATCH_MATMUL": gpu_rule("BatchedMatMulOperationParser", *layers.BATCH_MATMUL),
    "FULLY_CONNECTED": gpu_rule("FullyConnectedOperationParser", *layers.FULLY_CONNECTED, version_in=at_most(9)),
}


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
    """Parse FULLY_CONNECTED with runtime weights as a convolution.

    If the convolution's result does not have the shape of the node's result, add a RESHAPE.
    """
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


PARSERS: Mapping[str, Parser] = {
    "BATCH_MATMUL": parse_batch_matmul,
    "FULLY_CONNECTED": parse_fully_connected,
}
