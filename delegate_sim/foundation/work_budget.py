"""The budget of work for the inputs of a command.

A small file can cause much work: by references that multiply, by counts, by entries that are compressed well. Code that follows
references or reads entries of a file therefore spends steps of the current budget before it does the work. If the budget is
used up, the code raises LimitError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import LimitError
from .limits import how_to_raise, raised

_MOST_STEPS = 5_000_000
"""Number of steps in a budget. A step takes about a microsecond and keeps at most about 100 bytes."""
_BYTES_IN_A_STEP = 256
"""Number of bytes that compiled code, such as a decompressor, processes in a step."""


class WorkBudget:
    """A number of steps that decreases."""

    __slots__ = ("_left", "_most")

    def __init__(self) -> None:
        self._most = self._left = raised(_MOST_STEPS)

    def spend(self, steps: int, activity: str) -> None:
        """Subtract steps from the budget. Raise LimitError if too few are left. ``activity`` names the work in the message."""
        self._left -= steps
        if self._left < 0:
            raise LimitError(f"{activity} takes more than the limit of {self._most:,} steps{how_to_raise()}")


_current: ContextVar[WorkBudget | None] = ContextVar("work_budget", default=None)


@contextmanager
def work_budget(*, is_new: bool = False) -> Iterator[None]:
    """Share one budget between all inputs that are read in this context.

    An active budget is used further, unless ``is_new`` is True. A command starts a budget. A command that handles each of many
    models on its own, such as a scan, starts a new budget for each model.
    """
    if _current.get() is not None and not is_new:
        yield
        return
    token = _current.set(WorkBudget())
    try:
        yield
    finally:
        _current.reset(token)


def spend_steps(steps: int, activity: str) -> None:
    """Subtract steps from the current budget. Raise LimitError if the budget is used up. Without a budget, do nothing.

    ``activity`` names the work in the message, such as "reading the entries of the archive".
    """
    budget = _current.get()
    if budget is not None:
        budget.spend(steps, activity)


def spend_bytes(count: int, activity: str) -> None:
    """Subtract the steps for bytes that compiled code processes, like ``spend_steps``."""
    spend_steps(count // _BYTES_IN_A_STEP + 1, activity)
