"""Versions to try in place of an operator's own version."""

from __future__ import annotations

HIGHEST_TOLD_APART = 32
"""The highest version that delegates' rules distinguish. A model file may store any version up to 2**31 - 1."""
_ABOVE = 3


def versions_to_try(version: int) -> list[int]:
    """Return versions that could replace an operator's version.

    Lower versions come before higher versions, and the nearest version comes first.

    >>> versions_to_try(3)
    [2, 1, 4, 5, 6]
    """
    lower = range(min(version - 1, HIGHEST_TOLD_APART), 0, -1)
    higher = range(max(version, 0) + 1, max(version, 0) + _ABOVE + 1)  # bounded: a constant number of versions
    return [*lower, *(higher if version <= HIGHEST_TOLD_APART else ())]
