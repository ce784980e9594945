"""Read JSON of limited size, with numbers of limited size."""

from __future__ import annotations

import json
from typing import Any

from ..work_budget import spend_steps

_BYTES_IN_A_STEP = 6
"""Number of characters that are read in a step. The lists in them take at most about 150 bytes of memory."""
_MOST_BITS = 64


def loads(text: str, activity: str) -> Any:
    """Read a JSON document. ``activity`` names the work in the message of LimitError.

    Raises ValueError for a syntax error or an integer of more than 64 bits, and RecursionError if values are nested too deeply.
    """
    spend_steps(len(text) // _BYTES_IN_A_STEP + 1, activity)
    return _DECODER.decode(text)


def _integer(digits: str) -> int:
    value = int(digits) if len(digits) <= _MOST_BITS else 1 << _MOST_BITS
    if not -(1 << _MOST_BITS - 1) <= value < 1 << _MOST_BITS - 1:
        raise ValueError(f"an integer has more than {_MOST_BITS} bits")
    return value


_DECODER = json.JSONDecoder(parse_int=_integer)
