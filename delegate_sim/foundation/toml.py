"""A TOML reader: ``tomllib`` (``tomli`` on Python 3.10), with keys of limited length.

Every syntax error is raised as TOMLDecodeError.
"""

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
"""Matches a key with too many parts. The time to read a key grows with the square of its number of parts."""


def loads(text: str) -> dict[str, Any]:
    """Read a TOML document. Raise TOMLDecodeError, or RecursionError if arrays are nested too deeply."""
    long_key = _LONG_KEY.search(text)
    if long_key is not None:
        line = text.count("\n", 0, long_key.start()) + 1
        raise TOMLDecodeError(f"A key of more than {_MOST_PARTS} parts (at line {line}, column 1)")
    try:
        content: dict[str, Any] = reader.loads(text)
    except TOMLDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits, or a date that does not exist
        raise TOMLDecodeError(f"A value that cannot be read: {error}") from error
    return content
