"""What the acceptance rules ask of the target: the release alone. No backend and no option changes a verdict.

Source: ``GetOpsToReplaceWithOptions`` (``ml_drift_delegate/tflite/model_builder.cc``).
"""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class MlDriftTarget(NamedTuple):
    """The release whose rules count: one of those measured."""

    release: Release = NEWEST
