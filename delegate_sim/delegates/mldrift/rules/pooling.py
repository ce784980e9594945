"""Pooling."""

from __future__ import annotations

from ...gpu_compatibility import layers
from .checks import FUSABLE, RESULTS_BEFORE_2_1_5, RESULTS_FROM_2_1_5, parsed_by, readable, version_up_to

_POOL = parsed_by(
    "Pooling2DOperationParser",
    *version_up_to(2),
    *layers.POOL_2D,
    *RESULTS_FROM_2_1_5,
    *readable(0),
    FUSABLE,
    *RESULTS_BEFORE_2_1_5,
)

RULES = {
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
}
