"""What the acceptance rules ask of the target."""

from __future__ import annotations

from dataclasses import dataclass

from ...releases.catalogue import NEWEST, Release


@dataclass(frozen=True, slots=True)
class VxTarget:
    """The release of the runtime, on which no rule of this delegate depends: the delegate does not come with the runtime."""

    release: Release = NEWEST
