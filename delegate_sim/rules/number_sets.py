"""Sets of allowed integers, with a description."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numbers that are allowed: ``words`` describe them, as in "at most 4", and ``data`` are them as plain data."""

    words: str
    holds: Callable[[int], bool]
    data: tuple[str | int, ...]

    def __contains__(self, number: int) -> bool:
        return self.holds(number)


def exactly(*allowed: int) -> Numbers:
    """Allow these numbers only."""
    return Numbers(listed(map(str, allowed)), frozenset(allowed).__contains__, ("exactly", *sorted(set(allowed))))


def at_most(limit: int) -> Numbers:
    """Allow numbers up to a limit."""
    return Numbers(f"at most {limit}", lambda number: number <= limit, ("at most", limit))


def at_least(least: int) -> Numbers:
    """Allow numbers of at least this."""
    return Numbers(f"at least {least}", lambda number: number >= least, ("at least", least))


def between(least: int, most: int) -> Numbers:
    """Allow numbers from one to another, both included."""
    return Numbers(f"{least} to {most}", lambda number: least <= number <= most, ("between", least, most))


def up_to_one() -> Numbers:
    """Allow what counts as 1: an operator version of 1, for which a file may also say 0."""
    return replace(at_most(1), words="1")


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
