"""numpy, imported on first use.

Most models need no array, and the import of numpy takes half of the time of a short command. Other modules import ``np`` from
this module. They must not use ``np`` at import time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import MissingPackageError

__all__ = ["MISSING", "MOST_ARRAY_DIMENSIONS", "ignoring_overflow", "np", "without_threads"]

MISSING = "this model needs the package numpy, which is not installed"
"""The message about a model that needs numpy if numpy is not installed, for example in a browser."""

MOST_ARRAY_DIMENSIONS = 32
"""Largest number of array dimensions in every supported version of numpy."""

_THREADS = "OPENBLAS_NUM_THREADS"


class _Settings:
    is_threaded = True


class _LateNumpy:
    """A replacement for the numpy module that imports numpy on first use. Raises MissingPackageError if there is no numpy."""

    def __getattr__(self, name: str) -> Any:
        with contextlib.nullcontext() if _Settings.is_threaded else _one_thread():
            try:
                import numpy  # takes longer than checking a model
            except ImportError as error:
                raise MissingPackageError(MISSING) from error
        attribute = getattr(numpy, name)
        setattr(self, name, attribute)
        return attribute


if TYPE_CHECKING:
    import numpy as np
else:
    np = _LateNumpy()


@contextlib.contextmanager
def ignoring_overflow() -> Iterator[None]:
    """Do not warn about overflow inside this context, because the runtime does not report overflow.

    This function also works without numpy.
    """
    ignored: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    with contextlib.suppress(MissingPackageError):
        ignored = np.errstate(all="ignore")
    with ignored:
        yield


def without_threads() -> None:
    """Import numpy without threads, because idle threads use CPU time. No effect if numpy is already imported."""
    _Settings.is_threaded = False


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Limit numpy to one thread if numpy is imported inside this context."""
    if _THREADS in os.environ:
        yield
        return
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        os.environ.pop(_THREADS, None)
