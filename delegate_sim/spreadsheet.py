"""Text in comma-separated values that no spreadsheet takes for a formula."""

from __future__ import annotations

import re

_FORMULA = r"(?='*\s*[=+\-@\uff1d\uff0b\uff0d\uff20])"
"""What a spreadsheet takes for a formula where a cell begins; some divide cells at semicolons, whatever the quotes."""
_UNMARKED = re.compile(f"(^|;){_FORMULA}")
_MARKED = re.compile(f"(^|;)'{_FORMULA}")


def marked(text: str) -> str:
    """Return text with a mark before all that would be taken for a formula.

    >>> marked("=1+1;-2")
    "'=1+1;'-2"
    """
    return _UNMARKED.sub(r"\1'", text)


def unmarked(text: str) -> str:
    """Return the text that was marked.

    >>> unmarked(marked("'=1")) == "'=1"
    True
    """
    return _MARKED.sub(r"\1", text)
