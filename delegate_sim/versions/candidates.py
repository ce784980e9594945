"""Candidate versions of an operator to try."""

from __future__ import annotations

HIGHEST_TOLD_APART = 32
"""No rule of a delegate tells versions above this one apart; a file may name any up to 2**31 - 1."""
_ABOVE = 3


def versions_to_try(version: int) -> list[int]:
    """Return the versions that could be taken in place of one, the nearest first, lower ones before higher ones.

    >>> versions_to_try(3)
    [2, 1, 4, 5, 6]
    """
    lower = range(min(version - 1, HIGHEST_TOLD_APART), 0, -1)
    higher = range(max(version, 0) + 1, max(version, 0) + _ABOVE + 1)
    return [*lower, *(higher if version <= HIGHEST_TOLD_APART else ())]
