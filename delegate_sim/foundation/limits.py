"""Limits on the memory and time for one file or one hypothetical change.

The limits protect a job against untrusted files. A user who trusts a file can raise all limits: the environment variable
DELEGATE_SIM_LIMITS has a factor for every limit.
"""

from __future__ import annotations

import itertools
import math
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..errors import DelegateSimError, FixError, LimitError, fault_text

VARIABLE = "DELEGATE_SIM_LIMITS"
_MOST = 1_000_000
_MOST_ELEMENTS = 1 << 22
"""Largest length of a list or array if a shape, an option or a hypothetical change sets the length."""
_MOST_DIMENSIONS = 256
"""Largest number of dimensions of a tensor. All kernels accept fewer dimensions."""


def raised(limit: int) -> int:
    """Return a limit, multiplied by the factor in DELEGATE_SIM_LIMITS."""
    text = os.environ.get(VARIABLE, "")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        return limit
    return limit * min(max(int(text), 1), _MOST)


def how_to_raise() -> str:
    """Return the part of an error message that says how to raise the limits."""
    return f"; {VARIABLE}=10 raises every limit tenfold"


def is_above_limit(count: int) -> bool:
    """Return whether ``count`` elements are too many for one list or array."""
    return count > _MOST_ELEMENTS and count > raised(_MOST_ELEMENTS)


def bounded(count: int, what: str) -> int:
    """Return a count of elements, or raise LimitError if the count is above the limit.

    A file or a hypothetical change may contain a huge count. Call this function before you allocate memory or run a loop.
    ``what`` names the elements.
    """
    if is_above_limit(count):
        most = raised(_MOST_ELEMENTS)
        raise LimitError(f"{count:,} {what} are more than the limit of {most:,}{how_to_raise()}")
    return count


def has_too_many_dimensions(rank: int) -> bool:
    """Return whether a shape has more dimensions than the limit."""
    return rank > _MOST_DIMENSIONS and rank > raised(_MOST_DIMENSIONS)


def ensure_rank(rank: int) -> None:
    """Raise LimitError if a shape has too many dimensions."""
    if has_too_many_dimensions(rank):
        most = raised(_MOST_DIMENSIONS)
        raise LimitError(f"a tensor has {rank:,} dimensions, more than the limit of {most:,}{how_to_raise()}")


def element_count(shape: Sequence[int]) -> int:
    """Return the product of the sizes in a shape, or raise LimitError if the shape has too many dimensions."""
    ensure_rank(len(shape))
    return math.prod(shape)  # bounded: the number of dimensions is limited


def fits_if_unsigned(shape: Sequence[int]) -> bool:
    """Return whether the product of the sizes fits into 64 bits if each negative size is read as an unsigned number.

    Releases before LiteRT 2.1.5 multiply sizes in this way (``MultiplyAndCheckOverflow``, ``util.cc``). Every product from the
    first size on must fit: [1, 0, -6] fits, and [2, -1, 0] does not.
    """
    ensure_rank(len(shape))
    products = itertools.accumulate([size % 2**64 for size in shape], operator.mul, initial=1)
    return all(product < 2**64 for product in products)


@contextmanager
def naming_model(path: str | None) -> Iterator[None]:
    """Put a model's path at the start of the message of each LimitError or FixError that is raised in this context.

    A FixError that already names a file is not changed.
    """
    try:
        yield
    except FixError as error:
        if error.path or not path:
            raise
        raise FixError(error.reason, path) from error
    except LimitError as error:
        raise LimitError(error.reason, path or "the model") from None
    except (MemoryError, RecursionError) as error:
        raise exhausted(error, path) from None


def exhausted(error: MemoryError | RecursionError, path: str | None = None) -> LimitError:
    """Return the error for a model that uses up the memory or the stack of the process."""
    if isinstance(error, RecursionError):
        limit = f"it is nested deeper than Python's recursion limit of {sys.getrecursionlimit():,}"
    else:
        limit = f"it needs more memory than this process may use ({_memory_limit()})"
    return LimitError(limit, path or "the model")


def problem_text(error: Exception, path: str, fault: Callable[[Exception], str] = fault_text) -> tuple[str, bool]:
    """Return the text of an error that a model caused, and whether the error is internal.

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
