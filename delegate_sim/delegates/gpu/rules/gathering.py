"""Gathering, scattering, lookups and searches."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.kinds import TENSOR_TYPE
from ....rules.vocabulary import refused_if
from ...gpu_compatibility import copying
from ..build.reader import INT32_VALUES, LINEAR, NodeReader, Parser, gpu_axis
from .checks import INT32, UP_TO_1, gpu_rule

RULES = {
    "GATHER": gpu_rule(
        "GatherOperationParser",
        *copying.GATHER,
        refused_if(
            TENSOR_TYPE, "data of any type except INT32", lambda node: node.input(0).type == "INT32", "INT32 data"
        ).before_release("litert-1.1.0"),
        version_in=UP_TO_1,
        inputs=INT32,
    ),
}


# Building the model


def parse_gather(reader: NodeReader) -> None:
    """Parse GATHER (``GatherOperationParser``)."""
    gpu_axis(reader.view.input(0), reader.view.options.axis)
    operation = reader.add("GATHER")
    reader.add_input(operation, 0)
    if reader.is_constant(1):
        reader.read(1, LINEAR, INT32_VALUES)
    else:
        reader.add_input(operation, 1)
    reader.add_outputs(operation)


PARSERS: Mapping[str, Parser] = {
    "GATHER": parse_gather,
}
