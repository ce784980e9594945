"""Limits on what is read from a file, and how users raise them.

A stranger's file must not take the memory or the time of a job. One who knows the file sets DELEGATE_SIM_LIMITS to a number, and
every limit is so many times higher.
"""

from __future__ import annotations

import os

VARIABLE = "DELEGATE_SIM_LIMITS"
_MOST = 1_000_000


def raised(limit: int) -> int:
    """Return a limit as high as the user wants it."""
    text = os.environ.get(VARIABLE, "")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        return limit
    return limit * min(max(int(text), 1), _MOST)


def how_to_raise() -> str:
    """Say how a limit is raised, to follow what exceeds it."""
    return f"; {VARIABLE}=10 raises every limit tenfold"
