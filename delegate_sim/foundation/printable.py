"""Printable text, command lines that users copy, and near matches for mistyped names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


class _Escapes(dict[int, str]):
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


def item_list(items: Iterable[str], room: int | None = None) -> str:
    """Return items separated by commas.

    If the text is longer than ``room`` characters, some items are omitted, and the text ends with their number.
    """
    return fitting([(item, 1) for item in items], room, ", +{:,} more")


def fitting(items: Sequence[tuple[str, int]], room: int | None, more: str) -> str:
    """Join the items that fit into ``room`` characters, and add the number of omitted items.

    The first item is always included.
    """
    everything = ", ".join([text for text, _ in items])
    if room is None or len(everything) <= room:
        return everything
    left_out = sum([number for _, number in items])
    shown = ""
    for text, number in items:
        longer = f"{shown}, {text}" if shown else text
        if shown and len(longer) + len(more.format(left_out - number)) > room:
            break
        shown = longer
        left_out -= number
    return shown + more.format(left_out) if left_out else shown


def share(part: int, whole: int) -> str:
    """Return ``part`` as a percentage of ``whole``, rounded down. Only the whole gives 100 %, and only nothing gives 0 %."""
    if 0 < part * 1000 < whole:
        return "< 0.1 %"
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


def command_line(words: Iterable[str]) -> str:
    """Return a command line of delegate-sim.

    >>> command_line(["analyze", typed_path("-my model.tflite")])
    "delegate-sim analyze './-my model.tflite'"
    """
    import shlex  # imported here because most runs print no command

    return shlex.join(["delegate-sim", *words])


def typed_path(path: str | None) -> str:
    """Return a path as typed on a command line: ``-`` for standard input (None), and ``./-NAME`` for a name like an option."""
    if not path:
        return "-"
    return f"./{path}" if path.startswith("-") and path != "-" else path


_MOST = 4


def suggestion(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a clause with near matches of a word, or an empty string if there are none.

    A name is a near match if it contains the word between dashes: ``tf-2.15`` for ``2.15``. If there is no such name, near
    matches are names with a similarity of at least ``cutoff`` (see ``difflib``).
    """
    from difflib import get_close_matches

    folded, by_folded = word.casefold(), {name.casefold(): name for name in known}
    parts = [name for name in by_folded if folded and f"-{folded}-" in f"-{name}-"]
    near = [by_folded[name] for name in parts[:_MOST] or get_close_matches(folded, by_folded, n=_MOST, cutoff=cutoff)]
    return f"; did you mean {', '.join(near)}?" if near else ""


def install_command(extra: str) -> str:
    """Return the command that installs an optional extra. It runs in a checkout, because no index has the package."""
    return f"pip install '.[{extra}]'"
