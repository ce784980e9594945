"""Python's garbage collection, held while one model is read, simulated or reported on.

A model is many small objects that live until its report is written: collecting among them finds nothing and takes a sixth of the
time, with Python's own thresholds far more. What is circular is collected once the model is done with.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def uncollected(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function that does the same with garbage collection held, unless it is held already."""

    @functools.wraps(function)
    def call(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        if not gc.isenabled():
            return function(*args, **named)
        gc.disable()
        try:
            return function(*args, **named)
        finally:
            gc.enable()

    return call
