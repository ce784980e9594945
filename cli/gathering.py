"""Combine several options of a command into one argument of the command function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

Command = Callable[..., Any]


def gathered(name: str, make: Callable[..., Any]) -> Callable[[Command], Command]:
    """Return a decorator that replaces some options of a command by one argument ``name``.

    The options are the parameters of ``make``, and the argument is the result of ``make``. The options must be declared above the
    decorator.
    """
    options = tuple(inspect.signature(make).parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(**given: Any) -> Any:
            return command(**{name: make(**{option: given.pop(option) for option in options})}, **given)

        return call

    return decorate
