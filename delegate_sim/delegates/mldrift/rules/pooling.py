"""Pooling and resizing of images."""

from __future__ import annotations

from ...gpu_compatibility import convolution
from ..demands.checks import FUSABLE, version_up_to
from ..demands.parsing import parsed_by
from ..demands.reading import RESULTS, readable
from ..demands.tensors import with_tensors

_POOL = parsed_by("Pooling2DOperationParser", *version_up_to(2), *convolution.POOL_2D, *RESULTS, *readable(0), FUSABLE)

RULES = with_tensors(
    {
        "AVERAGE_POOL_2D": _POOL,
        "MAX_POOL_2D": _POOL,
        "RESIZE_BILINEAR": parsed_by(
            "Resize2DOperationParser", *version_up_to(3), *convolution.RESIZE_BILINEAR, *readable(0), *RESULTS
        ),
        "RESIZE_NEAREST_NEIGHBOR": parsed_by(
            "Resize2DOperationParser", *version_up_to(3), *convolution.RESIZE_NEAREST_NEIGHBOR, *readable(0), *RESULTS
        ),
    }
)
