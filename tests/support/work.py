"""Measure the work of a function without a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from delegate_sim.errors import DelegateSimError
from delegate_sim.foundation.work_budget import work_budget


def calls(function: Callable[..., Any], *arguments: Any) -> int:
    """Return the number of calls of Python and C functions while a function runs. Ignore errors of input."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    with work_budget(is_new=True), suppress(DelegateSimError):
        sys.setprofile(trace)
        try:
            function(*arguments)
        finally:
            sys.setprofile(before)
    return count
