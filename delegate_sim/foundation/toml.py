"""Read TOML with ``tomllib`` (``tomli`` on Python 3.10), but limit the length of keys."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib as reader
else:
    import tomli as reader

TOMLDecodeError = reader.TOMLDecodeError

_MOST_PARTS = 64
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:\.[ \t]*{_PART}){{{_MOST_PARTS}}}")
"""Pattern of a key with too many parts. Reading time grows with the square of the number of parts."""


def loads(text: str) -> dict[str, Any]:
    """Read a TOML document. Raise TOMLDecodeError for a syntax error, and RecursionError if arrays are nested too deeply."""
    long_key = _LONG_KEY.search(text)
    if long_key is not None:
        line = text.count("\n", 0, long_key.start()) + 1
        raise TOMLDecodeError(f"A key has more than {_MOST_PARTS} parts (at line {line}, column 1)")
    try:
        content: dict[str, Any] = reader.loads(text)
    except TOMLDecodeError:
        raise
    except ValueError as error:  # a number with thousands of digits, or a date that does not exist
        raise TOMLDecodeError(f"A value cannot be read: {error}") from error
    return content
