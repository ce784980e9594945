"""Resizing of images."""

from __future__ import annotations

from ...gpu_compatibility import layers
from .checks import RESULTS, parsed_by, readable, version_up_to

RULES = {
    "RESIZE_BILINEAR": parsed_by("Resize2DOperationParser", *version_up_to(3), *layers.RESIZE_BILINEAR, *readable(0), *RESULTS),
    "RESIZE_NEAREST_NEIGHBOR": parsed_by(
        "Resize2DOperationParser", *version_up_to(3), *layers.RESIZE_NEAREST_NEIGHBOR, *readable(0), *RESULTS
    ),
}
