"""Limits on the memory and time that a file or a hypothetical change can make the program use.

A file from an untrusted source must not use up the memory or the time of a job. A user who trusts the file can set the
environment variable DELEGATE_SIM_LIMITS to a number, which multiplies every limit.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..errors import DelegateSimError, LimitError, fault_text

VARIABLE = "DELEGATE_SIM_LIMITS"
_MOST = 1_000_000
_MOST_ELEMENTS = 1 << 22
"""Largest number of elements in a list or array whose length comes from a shape, an option or a hypothetical change."""
_MOST_DIMENSIONS = 256
"""The largest number of dimensions of a tensor.

It is far higher than any kernel accepts, and low enough to multiply and to print.
"""


def raised(limit: int) -> int:
    """Return a limit, multiplied by the number that the user has set."""
    text = os.environ.get(VARIABLE, "")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        return limit
    return limit * min(max(int(text), 1), _MOST)


def how_to_raise() -> str:
    """Return the part of an error message that says how to raise the limits."""
    return f"; {VARIABLE}=10 raises every limit tenfold"


def is_above_limit(count: int) -> bool:
    """Return whether a list or array of ``count`` elements would be above the limit."""
    return count > _MOST_ELEMENTS and count > raised(_MOST_ELEMENTS)


def bounded(count: int, what: str) -> int:
    """Return a count of elements, or raise LimitError if it is above the limit.

    Call this before allocating memory or running a loop if the size comes from a file or a hypothetical change. ``what`` names
    the elements.
    """
    if is_above_limit(count):
        most = raised(_MOST_ELEMENTS)
        raise LimitError(f"{count:,} {what}, but at most {most:,} are simulated{how_to_raise()}")
    return count


def has_too_many_dimensions(rank: int) -> bool:
    """Return whether a shape has more dimensions than the limit."""
    return rank > _MOST_DIMENSIONS and rank > raised(_MOST_DIMENSIONS)


def ensure_rank(rank: int) -> None:
    """Raise LimitError if a shape has too many dimensions."""
    if has_too_many_dimensions(rank):
        most = raised(_MOST_DIMENSIONS)
        raise LimitError(f"a tensor with {rank:,} dimensions, but at most {most:,} are simulated{how_to_raise()}")


def element_count(shape: Sequence[int]) -> int:
    """Return the product of the sizes in a shape, or raise LimitError if the shape has too many dimensions."""
    ensure_rank(len(shape))
    return math.prod(shape)  # bounded: few sizes, and Python's integers do not overflow


@contextmanager
def naming_model(path: str | None) -> Iterator[None]:
    """Prefix the message of each LimitError raised in this context with the path of a model."""
    try:
        yield
    except LimitError as error:
        raise LimitError(error.reason, path or "the model") from None
    except (MemoryError, RecursionError) as error:
        raise exhausted(error, path) from None


def exhausted(error: MemoryError | RecursionError, path: str | None = None) -> LimitError:
    """Return the error to report when a model uses up the memory or the stack of the process."""
    if isinstance(error, RecursionError):
        limit = f"it is nested deeper than Python's recursion limit of {sys.getrecursionlimit():,}"
    else:
        limit = f"it needs more memory than this process may use ({_memory_limit()})"
    return LimitError(limit, path or "the model")


def problem_text(error: Exception, path: str, fault: Callable[[Exception], str] = fault_text) -> tuple[str, bool]:
    """Return the text to report for an error in one of several models, and whether the error is internal.

    ``fault`` returns the text of an internal error.
    """
    if isinstance(error, MemoryError | RecursionError):
        error = exhausted(error, path)
    if isinstance(error, LimitError):
        error = LimitError(error.reason, path)
    if isinstance(error, DelegateSimError):
        return str(error), False
    return f"{path}: {fault(error)}", True


def _memory_limit() -> str:
    try:
        import resource
    except ImportError:  # Windows
        return "the memory of this computer"
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return "the memory of this computer" if limit == resource.RLIM_INFINITY else f"{limit >> 20:,} MiB"
