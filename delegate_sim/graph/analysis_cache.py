"""Results that the simulations of one analysis share, for example in a table of releases or an overview of targets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_KEPT = 8
"""The number of results kept for each question; it is small because the results of a large model take much memory."""


class AnalysisCache:
    """Results that several simulations of one analysis need: prepared graphs, and delegates' decisions about graphs.

    An analysis creates one cache, passes it to every simulation, and drops it at the end. A key must include everything that the
    result depends on. Models and graphs can be parts of a key, since they cannot change and are compared by identity.
    """

    def __init__(self) -> None:
        self._results: dict[Hashable, deque[tuple[tuple[object, ...], Any]]] = {}

    def get(self, question: Hashable, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """Return the result that is cached for an equal key, or cache and return the result of ``make``.

        ``question`` is the kind of result. ``key`` must include everything that the result depends on. For each question, the
        last eight results are kept.
        """
        results = self._results.setdefault(question, deque(maxlen=_KEPT))
        for known, result in results:
            if known == key:
                known_result: T = result
                return known_result
        new_result = make()
        results.append((key, new_result))
        return new_result
