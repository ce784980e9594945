"""The target of the rules."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release

COREML_2 = 2
COREML_3 = 3


class CoreMlTarget(NamedTuple):
    """A target: the version of Core ML for the built models, and the release of the runtime."""

    coreml_version: int = COREML_3
    release: Release = NEWEST
