"""The target of the rules."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class HexagonTarget(NamedTuple):
    """The target of the rules: only the release of the runtime."""

    release: Release = NEWEST
