"""numpy, imported on first use: most models need no array, and importing numpy takes half of the time of a short command.

Modules take ``np`` from here, and must not use it while they are imported.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

__all__ = ["np", "without_threads"]

_THREADS = "OPENBLAS_NUM_THREADS"


class _Settings:
    is_threaded = True


class _LateNumpy:
    """Stands for the module."""

    def __getattr__(self, name: str) -> Any:
        with contextlib.nullcontext() if _Settings.is_threaded else _one_thread():
            import numpy  # takes longer than judging a model
        attribute = getattr(numpy, name)
        setattr(self, name, attribute)
        return attribute


if TYPE_CHECKING:
    import numpy as np
else:
    np = _LateNumpy()


def without_threads() -> None:
    """Keep numpy, if it will be imported, from starting threads, which wait busily and are of no use to a short program."""
    _Settings.is_threaded = False


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Say so in the environment while numpy is imported, and not to programs that are started later."""
    if _THREADS in os.environ:
        yield
        return
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        os.environ.pop(_THREADS, None)
