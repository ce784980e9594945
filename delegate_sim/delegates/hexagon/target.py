"""The target of the rules."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class HexagonTarget(NamedTuple):
    """The target for the rules. It consists only of the runtime's release."""

    release: Release = NEWEST
