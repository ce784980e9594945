"""The target that the acceptance rules depend on."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class HexagonTarget(NamedTuple):
    """The release of the runtime on which the rules depend."""

    release: Release = NEWEST
