"""Read the shape of an input from an option: ``INPUT=1,224,224,3``."""

from __future__ import annotations

from ...errors import OptionError
from ..printable import printable, shortened

_MOST_DIGITS = 10
"""Digits of the largest size. Python refuses to read numbers with thousands of digits."""


def parse_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the name of an input and its sizes, from 1 to 2,147,483,647. Raise OptionError for any other form."""
    name, equals, sizes = text.rpartition("=")
    if not equals or not all(map(_is_size, sizes.split(","))):
        raise OptionError(printable(f"a shape is INPUT=1,224,224,3, not {shortened(text)!r}"))
    return name, tuple(map(int, sizes.split(",")))


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and 0 < int(text) < 1 << 31
