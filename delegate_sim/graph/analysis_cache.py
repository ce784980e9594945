"""A cache that the simulations of one analysis share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_KEPT = 32
"""Number of cached results of each kind: the changed models that the targets of a report share."""


class AnalysisCache:
    """A cache of prepared graphs and of delegates' decisions.

    An analysis creates one cache, passes it to every simulation, and drops it at the end. A key must include everything that
    the result depends on. Keys may contain models and graphs, because models and graphs never change. Models and graphs are
    compared by identity.
    """

    def __init__(self) -> None:
        self._results: dict[Hashable, deque[tuple[tuple[object, ...], Any]]] = {}

    def get(self, question: Hashable, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """Return the cached result for a key. If there is none, call ``make`` and cache its result.

        ``question`` names the kind of result. The cache keeps the last results of each kind.
        """
        results = self._kept(question)
        for known, result in results:
            if known == key:
                known_result: T = result
                return known_result
        new_result = make()
        results.append((key, new_result))
        return new_result

    def results(self, question: Hashable) -> Iterator[Any]:
        """Yield the cached results of a kind."""
        return (result for _, result in self._kept(question))

    def _kept(self, question: Hashable) -> deque[tuple[tuple[object, ...], Any]]:
        return self._results.setdefault(question, deque(maxlen=_KEPT))
