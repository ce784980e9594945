"""The target that the acceptance rules depend on."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class HexagonTarget(NamedTuple):
    """The target of the rules, which is only the release of the runtime."""

    release: Release = NEWEST
