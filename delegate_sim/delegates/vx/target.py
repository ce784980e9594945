"""The target of the VX rules: the release of the runtime."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class VxTarget(NamedTuple):
    """The release of the runtime. No rule depends on this release, because the delegate is not part of the runtime."""

    release: Release = NEWEST
