"""Resizing of images."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import layers
from ..build.reader import Parser, parse_one_to_one
from .checks import UP_TO_3, gpu_rule

RULES = {
    "RESIZE_BILINEAR": gpu_rule("Resize2DOperationParser", *layers.RESIZE_BILINEAR, version_in=UP_TO_3),
    "RESIZE_NEAREST_NEIGHBOR": gpu_rule("Resize2DOperationParser", *layers.RESIZE_NEAREST_NEIGHBOR, version_in=UP_TO_3),
}


# Building the model


PARSERS: Mapping[str, Parser] = {
    "RESIZE_BILINEAR": parse_one_to_one,
    "RESIZE_NEAREST_NEIGHBOR": parse_one_to_one,
}
