"""Pass several options to a command as one argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

Command = Callable[..., Any]


def gathered(name: str, make: Callable[..., Any]) -> Callable[[Command], Command]:
    """Return a decorator that passes a command what ``make`` returns for options, as the argument ``name``.

    The options are those that the parameters of ``make`` name; they are declared above the decorator.
    """
    options = tuple(inspect.signature(make).parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(**given: Any) -> Any:
            return command(**{name: make(**{option: given.pop(option) for option in options})}, **given)

        return call

    return decorate
