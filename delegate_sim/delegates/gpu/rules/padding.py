"""Padding."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import copying
from ..build.reader import HW, INT32_VALUES, NodeReader, Parser
from .checks import UP_TO_2, gpu_rule

_PAD = gpu_rule("PadOperationParser", *copying.PAD, version_in=UP_TO_2)

RULES = {
    "MIRROR_PAD": gpu_rule("PadOperationParser", *copying.MIRROR_PAD, version_in=UP_TO_2),
    "PAD": _PAD,
    "PADV2": _PAD,
}


# Building the model


def parse_pad(reader: NodeReader) -> None:
    """Parse PAD and similar operators (``PadOperationParser``)."""
    reader.add_one_to_one("PAD")
    reader.read(1, HW, INT32_VALUES)


PARSERS: Mapping[str, Parser] = {
    "MIRROR_PAD": parse_pad,
    "PAD": parse_pad,
    "PADV2": parse_pad,
}
