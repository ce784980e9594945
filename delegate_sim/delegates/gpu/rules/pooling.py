"""Pooling."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import COMPATIBILITY
from ..build.reader import NodeReader, Parser
from .checks import UP_TO_2, gpu_rule

_POOL = gpu_rule(
    "Pooling2DOperationParser",
    *layers.POOL_2D,
    version_in=UP_TO_2,
    cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckPooling2DGpuDelegateCompatibility")),
)

RULES = {
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
}


# Building the model


def parse_pool(reader: NodeReader) -> None:
    """Parse pooling (``Pooling2DOperationParser``)."""
    operation = reader.add_one_to_one("POOLING_2D")
    reader.fuse_activation(operation)


PARSERS: Mapping[str, Parser] = {
    "AVERAGE_POOL_2D": parse_pool,
    "MAX_POOL_2D": parse_pool,
}
