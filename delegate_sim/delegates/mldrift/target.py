"""The target of the rules: only a release, because no backend or option changes a verdict.

Source: ``GetOpsToReplaceWithOptions`` (``ml_drift_delegate/tflite/model_builder.cc``).
"""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class MlDriftTarget(NamedTuple):
    """The measured release that is simulated."""

    release: Release = NEWEST
