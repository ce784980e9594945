"""Text helpers for all commands: counts, lists of nodes, wrapped lines and shortened lines."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from delegate_sim.delegates.options import Option, as_typed, option_value
from delegate_sim.foundation.printable import counted, fitting, item_list, printable, share

__all__ = [
    "counted",
    "cut",
    "default_text",
    "help_rows",
    "item_list",
    "message",
    "name",
    "node_list",
    "operator_list",
    "option_value",
    "options_text",
    "ranges",
    "share",
    "wrapped",
]

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|bytes?|[KMG]iB|ms|s)(?!\w))")
"""A space between a number and its unit, where no line breaks."""
_KEPT = "\x00"
"""The character that stands for such a space while text is wrapped. Printable text does not contain it."""
_LONGEST_NAME = 60
_HELP_WIDTH = 76
"""The width of preformatted rows in a help text, which has an indent of two more columns."""
_LONGEST_MESSAGE = 2000


def options_text(declared: Sequence[Option], options: Mapping[str, object]) -> str:
    """Return the options that are set, in command-line form."""
    return " ".join(
        [as_typed(declared, key, option_value(value)) for key, value in options.items() if value not in (None, (), [])]
    )


def default_text(value: object) -> str:
    """Return the default of an option as text, or an empty string if the option has no default."""
    return "" if value in (None, ()) else option_value(value)


def name(text: str) -> str:
    """Return a name from a model, safe to print and shortened."""
    return cut(printable(text[: _LONGEST_NAME + 1]), _LONGEST_NAME)


def message(text: str) -> str:
    """Return a message, safe to print and shortened. The message may contain names from a model."""
    return cut(printable(text[: _LONGEST_MESSAGE + 1]), _LONGEST_MESSAGE)


def cut(text: str, width: int) -> str:
    """Return text shortened to a width."""
    return text if len(text) <= width else f"{text[: max(width - 3, 1)]}..."


def wrapped(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """Wrap text to a width. The first line starts with ``indent``, and later lines with ``hanging`` (by default ``indent``)."""
    if len(indent) + len(text) <= width:
        return [indent + text]
    lines = textwrap.wrap(
        _BEFORE_UNIT.sub(_KEPT, text),
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT, " ") for line in lines]


def help_rows(rows: Iterable[tuple[str, str]]) -> str:
    """Return rows for the end of a help text: the start of each row, and a text, which is wrapped on narrow terminals."""
    lines = [wrapped(text, _HELP_WIDTH, f"  {start}", " " * (2 + len(start))) for start, text in rows]
    return "\n".join([line for own in lines for line in own])


def ranges(indices: Sequence[int]) -> list[tuple[str, int]]:
    """Return sorted indices as ranges such as ``3-7`` and ``12``, and the number of indices in each range."""
    result = []
    start = 0
    for position in range(1, len(indices) + 1):
        if position < len(indices) and indices[position] == indices[position - 1] + 1:
            continue
        first, last = indices[start], indices[position - 1]
        result.append((str(first) if first == last else f"{first}-{last}", position - start))
        start = position
    return result


def operator_list(operators: Iterable[str], room: int | None = None) -> str:
    """Return distinct operators with their numbers as text, the most frequent first (see ``item_list``)."""
    return item_list([f"{name(op)} {count:,}" for op, count in Counter(operators).most_common()], room)


def node_list(indices: Sequence[int], room: int | None = None) -> str:
    """Return sorted indices as text with ranges.

    If the text is longer than ``room`` characters, some indices are omitted, and the text ends with their number.
    """
    return fitting(ranges(indices), room, ", ... and {:,} more")
