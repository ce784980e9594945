r"""Sets of characters in patterns of RE2, as ranges of characters.

Python's ``re`` is not used for them, because it takes milliseconds to compile a class with a wide range, such as
``[\x{1}-\x{ffff}]``. Ranges take time that grows with their number only.

Source: RE2's documented syntax (google/re2, ``doc/syntax.txt``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Range: TypeAlias = "tuple[int, int]"
"""The first and the last character of a range."""
LAST = 0x10FFFF
"""The last of all characters."""
_LETTERS = 26
_TO_OTHER_CASE = ((ord("A"), ord("a") - ord("A")), (ord("a"), ord("A") - ord("a")))
"""The first letter of each case, and the distance to the same letter of the other case."""


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """A set of characters.

    ``bounds`` has two characters for each range of the set, in order: the first one of the range, and the one after the range.
    """

    bounds: tuple[int, ...]

    def has(self, character: str) -> bool:
        """Return whether a character is in the set."""
        return bisect_right(self.bounds, ord(character)) % 2 == 1


def _ranges(ends: str) -> tuple[Range, ...]:
    return tuple([(ord(first), ord(last)) for first, last in zip(ends[::2], ends[1::2], strict=True)])


CLASSES = {
    "alnum": _ranges("09AZaz"),
    "alpha": _ranges("AZaz"),
    "ascii": _ranges("\x00\x7f"),
    "blank": _ranges("\t\t  "),
    "cntrl": _ranges("\x00\x1f\x7f\x7f"),
    "digit": _ranges("09"),
    "graph": _ranges("!~"),
    "lower": _ranges("az"),
    "print": _ranges(" ~"),
    "punct": _ranges("!/:@[`{~"),
    "space": _ranges("\t\r  "),
    "upper": _ranges("AZ"),
    "word": _ranges("09AZ__az"),
    "xdigit": _ranges("09AFaf"),
}
"""The ranges of classes such as ``[:alnum:]``."""
ESCAPED_CLASSES = {"d": CLASSES["digit"], "w": CLASSES["word"], "s": _ranges("\t\n\f\r  ")}
"""The ranges of classes such as ``\\d``."""


def only(character: int) -> Sequence[Range]:
    """Return the range of one character."""
    return [(character, character)]


def others(ranges: Sequence[Range]) -> Sequence[Range]:
    """Return ranges of all characters that are in none of the ranges."""
    bounds = [0, *character_set(ranges).bounds, LAST + 1]
    return [(first, after - 1) for first, after in zip(bounds[::2], bounds[1::2], strict=True) if first < after]


def with_other_case(ranges: Sequence[Range]) -> Sequence[Range]:
    """Return the ranges, and ranges of their ASCII letters in the other case."""
    shifted = [
        (max(first, letter) + distance, min(last, letter + _LETTERS - 1) + distance)
        for first, last in ranges
        for letter, distance in _TO_OTHER_CASE
        if first < letter + _LETTERS and last >= letter
    ]
    return [*ranges, *shifted]


def character_set(ranges: Sequence[Range]) -> CharacterSet:
    """Return the set of the characters in ranges, which may overlap, in any order."""
    bounds: list[int] = []
    for first, last in sorted(ranges):
        if bounds and first <= bounds[-1]:
            bounds[-1] = max(bounds[-1], last + 1)
        else:
            bounds += (first, last + 1)
    return CharacterSet(tuple(bounds))
