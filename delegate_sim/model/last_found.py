"""What was last found out about a model, for whoever asks the same of it next: simulations of a model are often alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from .model import Model

Found = TypeVar("Found")


class LastFound(Generic[Found]):
    """One finding for each model that is still there, which must not refer to the model: ``make`` returns an empty one."""

    def __init__(self, make: Callable[[], Found]) -> None:
        self._make = make
        self._known: WeakKeyDictionary[Model, tuple[tuple[object, ...], Found]] = WeakKeyDictionary()

    def of(self, model: Model, *rests_on: object) -> Found:
        """Return the finding for a model if it rests on the same as what was last asked for, else an empty one, which is kept."""
        last = self._known.get(model)
        if last is None or last[0] != rests_on:
            last = self._known[model] = rests_on, self._make()
        return last[1]
