"""What was last found out by the classes of nodes about a model and what is made of it: simulations of these are often alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from ..model.model import Model
from .classes import Kin, classes_of

Found = TypeVar("Found")

_KEPT = 2


class LastFound(Generic[Found]):
    """Findings about models that are still there, to which they must not refer: ``make`` returns an empty one.

    Models whose nodes are numbered together have them in common; so a finding rests on nothing of a model but classes.
    """

    def __init__(self, make: Callable[[], Found]) -> None:
        self._make = make
        self._known: WeakKeyDictionary[Kin, deque[tuple[tuple[object, ...], Found]]] = WeakKeyDictionary()

    def of(self, model: Model, *rests_on: object) -> Found:
        """Return a finding for a model if it rests on the same as one of the last, else an empty one, which is kept."""
        kin = classes_of(model).kin
        last = self._known.get(kin)
        if last is None:
            last = self._known.setdefault(kin, deque(maxlen=_KEPT))
        for known, found in tuple(last):
            if known == rests_on:
                return found
        found = self._make()
        last.append((rests_on, found))
        return found
