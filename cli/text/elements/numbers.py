"""Merge texts that differ only in numbers, with the range of each number."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)"
"""The pattern of a number. Digits in names such as ``CONV_2D`` and ``INT8`` do not match."""


def without_numbers(text: str) -> str:
    """Replace the numbers in a text by a placeholder. Texts that differ only in numbers become equal.

    >>> without_numbers("CONV_2D of 3 x 64") == without_numbers("CONV_2D of 5 x 1024")
    True
    """
    return re.sub(_NUMBER, "\0", text)


def with_ranges(texts: Sequence[str]) -> str:
    """Merge texts that differ only in numbers into one text with ranges.

    >>> with_ranges(["size [1,64]", "size [1,8]"])
    'size [1,8 to 64]'
    """
    first = texts[0]
    if all(text == first for text in texts):
        return first
    columns = [list(dict.fromkeys(column)) for column in zip(*[re.findall(_NUMBER, text) for text in texts], strict=True)]
    ranges = iter([_range(column) for column in columns])
    return re.sub(_NUMBER, lambda _: next(ranges), first)


def _range(numbers: Sequence[str]) -> str:
    return numbers[0] if len(numbers) == 1 else f"{min(numbers, key=float)} to {max(numbers, key=float)}"
