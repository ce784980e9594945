"""Make text from files and users safe to print."""

from __future__ import annotations

import math
from collections.abc import Sequence


class _Escapes(dict[int, str]):
    """Mapping from character codes to text. A character that is not printable maps to an escape."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        escape = character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        self[code] = escape
        return escape


_ESCAPES = _Escapes()


def printable(text: str) -> str:
    """Return text as one line that is safe to print on a terminal.

    Escape undecodable bytes and all characters that are not printable according to Unicode, such as control characters, line
    ends and invisible characters. Markup does not change.
    """
    return text if text.isprintable() else text.translate(_ESCAPES)


LONGEST_SAID = 500
"""Largest length of a text that a report repeats for many nodes."""


def shortened(text: str, most: int = LONGEST_SAID) -> str:
    """Return a text of at most ``most`` characters. A longer text is cut, and an ellipsis marks the cut."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 node``, ``1,170 nodes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def and_list(words: Sequence[str]) -> str:
    """Return words as an enumeration, such as "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def share(part: int, whole: int) -> str:
    """Return ``part`` as a percentage of ``whole``, rounded down. Only the whole gives 100 %."""
    return f"{part * 1000 // whole / 10:g} %" if whole else "0 %"


def percentages(*fractions: float) -> list[str]:
    """Return fractions as percentages, rounded down. Add digits until different fractions have different texts.

    >>> percentages(0.97834, 0.84173), percentages(0.84173, 0.84169)
    (['97.8 %', '84.1 %'], ['84.17 %', '84.16 %'])
    """
    texts: list[str] = []
    for digits in range(1, 8):
        texts = [f"{_percent(fraction, digits)} %" for fraction in fractions]
        if len(set(texts)) == len(set(fractions)):
            break
    return texts


def _percent(fraction: float, digits: int) -> str:
    # The stored value of a fraction such as 0.29 is slightly too small.
    number = math.floor(fraction * 100 * 10**digits + 1e-6) / 10**digits
    return f"{number:.{digits}f}".rstrip("0").removesuffix(".")
