"""Limits on what is read from a file or assumed about it, and how users raise them.

A stranger's file must not take the memory or the time of a job. One who knows the file sets DELEGATE_SIM_LIMITS to a number, and
every limit is so many times higher.
"""

from __future__ import annotations

import os

from ..errors import LimitError

VARIABLE = "DELEGATE_SIM_LIMITS"
_MOST = 1_000_000
_MOST_ELEMENTS = 1 << 22
"""Elements of a list or an array whose length a shape, an option or a hypothetical change gives, not the bytes of the file."""


def raised(limit: int) -> int:
    """Return a limit as high as the user wants it."""
    text = os.environ.get(VARIABLE, "")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        return limit
    return limit * min(max(int(text), 1), _MOST)


def how_to_raise() -> str:
    """Say how a limit is raised, to follow what exceeds it."""
    return f"; {VARIABLE}=10 raises every limit tenfold"


def bounded(count: int, what: str) -> int:
    """Return a count of elements before memory is taken for them.

    Whatever takes memory, or runs a loop, by a number that a file or a hypothetical change gives asks this first. ``what`` names
    the elements. Raises LimitError above the limit.
    """
    most = raised(_MOST_ELEMENTS)
    if count > most:
        raise LimitError(f"{count:,} {what}, and at most {most:,} are simulated{how_to_raise()}")
    return count
