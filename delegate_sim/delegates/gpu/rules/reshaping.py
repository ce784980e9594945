"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import copying
from ...gpu_compatibility.checks import runtime_operands
from ..build.reader import INT32_VALUES, LINEAR, NodeReader, Parser, parse_one_to_one
from ..failures import build_error
from .checks import UP_TO_1, UP_TO_2, UP_TO_4, gpu_rule

RULES = {
    "DEPTH_TO_SPACE": gpu_rule("DepthToSpaceOperationParser", *copying.BLOCKS),
    "RESHAPE": gpu_rule("ReshapeOperationParser", runtime_operands(1, 1), version_in=UP_TO_1),
    "SPACE_TO_DEPTH": gpu_rule("SpaceToDepthOperationParser", *copying.BLOCKS, version_in=UP_TO_2),
    "TRANSPOSE": gpu_rule("TransposeOperationParser", runtime_operands(1, 1), version_in=UP_TO_4),
}


# Building the model


def parse_reshape(reader: NodeReader) -> None:
    """Parse RESHAPE (``ReshapeOperationParser``)."""
    reader.add_identity(0)


def parse_transpose(reader: NodeReader) -> None:
    """Parse TRANSPOSE (``TransposeOperationParser``)."""
    reader.add_one_to_one("TRANSPOSE")
    (size,) = reader.read(1, LINEAR, INT32_VALUES)
    if size not in (2, 3, 4):
        raise build_error("gpu-build-shape", reader.view.input(1), needed="2 to 4 elements")


PARSERS: Mapping[str, Parser] = {
    "DEPTH_TO_SPACE": parse_one_to_one,
    "RESHAPE": parse_reshape,
    "SPACE_TO_DEPTH": parse_one_to_one,
    "TRANSPOSE": parse_transpose,
}
