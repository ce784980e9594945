"""Read JSON of limited size, with numbers of limited size."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from ..work_budget import spend_steps

_BYTES_IN_A_STEP = 6
"""Number of characters that are read in a step. The lists in them take at most about 150 bytes of memory."""
_MOST_BITS = 64


def loads(text: str, activity: str) -> Any:
    """Read a JSON document. ``activity`` names the work in the message of LimitError.

    Raises ValueError for a syntax error, an integer of more than 64 bits or a number that is not finite, and RecursionError if
    values are nested too deeply.
    """
    spend_steps(len(text) // _BYTES_IN_A_STEP + 1, activity)
    return _DECODER.decode(text)


def _integer(digits: str) -> int:
    value = int(digits) if len(digits) <= _MOST_BITS else 1 << _MOST_BITS
    if not -(1 << _MOST_BITS - 1) <= value < 1 << _MOST_BITS - 1:
        raise ValueError(f"an integer has more than {_MOST_BITS} bits")
    return value


def _refused(constant: str) -> NoReturn:
    raise ValueError("a number is not finite")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refused(digits)


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_finite, parse_constant=_refused)
