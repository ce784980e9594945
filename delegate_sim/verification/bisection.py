"""Find the node at which a model starts to fail, with few runs of parts of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

RIGHT, WRONG, FAILED = "right", "wrong", "failed"
"""Outcomes of a part: its outputs are right or wrong, or it does not run."""
_NEIGHBORS = 4
"""The number of neighboring parts to try if a part gives no answer."""

Judge = Callable[[int, int], str]
"""A function that runs the steps from a start up to a stop, with right inputs, and returns the outcome."""


class Window(NamedTuple):
    """The steps at fault. The steps before ``last`` give right results, and the steps up to ``last`` do not."""

    first: int
    """The first step that is needed for the outcome. Equal to ``last`` if the last step alone has the outcome."""
    last: int
    is_narrow: bool = True
    """False if parts did not run, so that the step at fault is one of those from ``first`` to ``last``."""


def find_window(count: int, outcome: str, judge: Judge) -> Window:
    """Return the first steps with an outcome, which is ``WRONG`` or ``FAILED``. All ``count`` steps together have it.

    The number of runs grows with the logarithm of ``count``. If only wrong steps are wanted, a part that does not run gives no
    answer.
    """
    good, bad = 0, count
    while bad - good > 1:
        middle = _split(good, bad, lambda stop: judge(0, stop), outcome)
        if middle is None:
            return Window(good, bad - 1, is_narrow=False)
        step, is_bad = middle
        good, bad = (good, step) if is_bad else (step, bad)
    return Window(_first(bad, outcome, judge), bad - 1)


def _split(good: int, bad: int, judge: Callable[[int], str], outcome: str) -> tuple[int, bool] | None:
    """Return a step between two steps, and whether it has the outcome. Return None if no step gives an answer."""
    for step in _near((good + bad) // 2, good, bad):
        answer = judge(step)
        if answer != FAILED or outcome == FAILED:
            return step, answer == outcome
    return None


def _near(middle: int, low: int, high: int) -> Iterator[int]:
    for distance in range(_NEIGHBORS):
        for step in dict.fromkeys((middle + distance, middle - distance)):
            if low < step < high:
                yield step


def _first(stop: int, outcome: str, judge: Judge) -> int:
    """Return the latest step from which the steps up to ``stop`` have the outcome.

    The step before ``stop`` is tried first, then windows of double size.
    """
    right, start, size = stop, stop - 1, 1
    while start > 0 and judge(start, stop) != outcome:
        size *= 2
        right, start = start, max(stop - size, 0)
    while right - start > 1:
        middle = (start + right) // 2
        if judge(middle, stop) == outcome:
            start = middle
        else:
            right = middle
    return start
