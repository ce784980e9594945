"""Share results between the simulations of one analysis, such as a table of releases or an overview of targets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_KEPT = 8
"""Results that are kept for each question: those of a large model take much memory."""


class AnalysisCache:
    """Results that several simulations of one analysis need: prepared graphs, and what delegates decide about graphs.

    Whoever starts an analysis makes one, hands it to every simulation, and drops it at the end. A key must hold everything that
    the result depends on. Models and graphs are equal only to themselves and cannot change, so they serve as parts of a key.
    """

    def __init__(self) -> None:
        self._results: dict[Hashable, deque[tuple[tuple[object, ...], Any]]] = {}

    def get(self, question: Hashable, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """Return the result for an equal key if it is among the last eight that were made for the question, else make it.

        ``question`` names what the result is, ``key`` holds everything that it depends on.
        """
        results = self._results.setdefault(question, deque(maxlen=_KEPT))
        for known, result in results:
            if known == key:
                known_result: T = result
                return known_result
        new_result = make()
        results.append((key, new_result))
        return new_result
