"""What the acceptance rules ask of the target."""

from __future__ import annotations

from dataclasses import dataclass

from ...releases.catalogue import NEWEST, Release


@dataclass(frozen=True, slots=True)
class HexagonTarget:
    """The release of the runtime that the delegate belongs to."""

    release: Release = NEWEST
