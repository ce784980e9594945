"""The target that the acceptance rules depend on."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class VxTarget(NamedTuple):
    """The release of the runtime, on which no rule of this delegate depends: the delegate does not come with the runtime."""

    release: Release = NEWEST
