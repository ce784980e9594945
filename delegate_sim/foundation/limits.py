"""Limits on the memory and time that a file or a hypothetical change can make the program use.

A file from an untrusted source must not use up the memory or the time of a job. A user who trusts the file can set the
environment variable DELEGATE_SIM_LIMITS to a number, which multiplies every limit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import LimitError

VARIABLE = "DELEGATE_SIM_LIMITS"
_MOST = 1_000_000
_MOST_ELEMENTS = 1 << 22
"""Largest number of elements in a list or array whose length comes from a shape, an option or a hypothetical change."""


def raised(limit: int) -> int:
    """Return a limit, multiplied by the number that the user has set."""
    text = os.environ.get(VARIABLE, "")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        return limit
    return limit * min(max(int(text), 1), _MOST)


def how_to_raise() -> str:
    """Return the part of an error message that says how to raise the limits."""
    return f"; {VARIABLE}=10 raises every limit tenfold"


def bounded(count: int, what: str) -> int:
    """Return a count of elements, or raise LimitError if it is above the limit.

    Call this before allocating memory, or running a loop, whose size comes from a file or a hypothetical change. ``what`` names
    the elements.
    """
    most = raised(_MOST_ELEMENTS)
    if count > most:
        raise LimitError(f"{count:,} {what}, and at most {most:,} are simulated{how_to_raise()}")
    return count


@contextmanager
def naming_model(path: str | None) -> Iterator[None]:
    """Prefix the message of each LimitError raised in this context with the path of a model."""
    try:
        yield
    except LimitError as error:
        raise LimitError(f"{path or 'the model'}: not simulated: {error}") from None
