"""Pooling and resizing of images."""

from __future__ import annotations

from ...gpu_compatibility import pooling
from ...gpu_compatibility.checks import COMPATIBILITY
from .checks import UP_TO_2, UP_TO_3, gpu_rule

_POOL = gpu_rule(
    "Pooling2DOperationParser",
    *pooling.POOL_2D,
    version_in=UP_TO_2,
    cases=(COMPATIBILITY.symbol, "CheckPooling2DGpuDelegateCompatibility"),
)

RULES = {
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
    "RESIZE_BILINEAR": gpu_rule("Resize2DOperationParser", *pooling.RESIZE_BILINEAR, version_in=UP_TO_3),
    "RESIZE_NEAREST_NEIGHBOR": gpu_rule("Resize2DOperationParser", *pooling.RESIZE_NEAREST_NEIGHBOR, version_in=UP_TO_3),
}
