"""Sets of whole numbers that rules allow, with a description."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers that are allowed: ``words`` describe them, as in "at most 4"."""

    words: str
    holds: Callable[[int], bool]

    def __contains__(self, number: int) -> bool:
        return self.holds(number)


def exactly(*allowed: int) -> Numbers:
    """Allow these numbers only."""
    return Numbers(listed(map(str, allowed)), frozenset(allowed).__contains__)


def at_most(limit: int) -> Numbers:
    """Allow numbers up to a limit."""
    return Numbers(f"at most {limit}", lambda number: number <= limit)


def at_least(least: int) -> Numbers:
    """Allow numbers of at least this."""
    return Numbers(f"at least {least}", lambda number: number >= least)


def between(least: int, most: int) -> Numbers:
    """Allow numbers from one to another, both included."""
    return Numbers(f"{least} to {most}", lambda number: least <= number <= most)


def allowed_numbers(numbers: int | Numbers) -> Numbers:
    """Return a set of numbers; a single number stands for itself."""
    return exactly(numbers) if isinstance(numbers, int) else numbers


def listed(names: Iterable[str]) -> str:
    """Join names for a sentence: "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def counted(number: int, name: str) -> str:
    """Say how many of something there are: "no inputs", "1 input", "2 inputs"."""
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"
