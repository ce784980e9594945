"""Parsers of MediaPipe's custom operators (``delegates/gpu/common/model_builder.cc``)."""

from __future__ import annotations

from ...gpu_compatibility.questions import custom_pool_parameters
from .reader import OHWI, NodeReader


def parse_transpose_conv_bias(reader: NodeReader) -> None:
    """``TransposeConvCustomOperationParser``."""
    reader.add_one_to_one("CONVOLUTION_TRANSPOSED")
    reader.read(1, OHWI)
    reader.read_bias(2)


def parse_pool_with_argmax(reader: NodeReader) -> None:
    """``Pooling2DOperationParser`` with indices as the second result."""
    operation = reader.add("POOLING_2D")
    reader.add_input(operation, 0)
    reader.add_output(operation, 0)
    parameters = custom_pool_parameters(reader.view)
    reader.fuse_activation(operation, parameters.activation if parameters else "NONE")
    reader.add_output(operation, 1)


def parse_unpool(reader: NodeReader) -> None:
    """``Unpooling2DOperationParser``."""
    _add_two_operands(reader, "MAX_UNPOOLING_2D")


def parse_resampler(reader: NodeReader) -> None:
    """``ResamplerOperationParser``."""
    _add_two_operands(reader, "RESAMPLER")


def _add_two_operands(reader: NodeReader, kind: str) -> None:
    operation = reader.add(kind)
    reader.add_input(operation, 0)
    reader.add_input(operation, 1)
    reader.add_outputs(operation)
