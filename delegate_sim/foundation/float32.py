"""Single-precision arithmetic without numpy, because numpy is slow to import.

Python computes in 64 bits, and the result is rounded to 32 bits. For sums, differences, products, quotients and square roots,
the rounded result equals the 32-bit result (Figueroa, "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable

SMALLEST_NORMAL = 2.0**-126

_SINGLE = struct.Struct("<f")


def float32(value: float) -> float:
    """Round to single precision."""
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(value))[0])
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def all_float32(values: Iterable[float]) -> list[float]:
    """Round many numbers to single precision."""
    return array("f", values).tolist()


def quotient(numerator: float, denominator: float) -> float:
    """Divide in single precision. Division by zero gives infinity or NaN."""
    numerator, denominator = float32(numerator), float32(denominator)
    if denominator:
        return float32(numerator / denominator)
    return (
        math.nan if not numerator or math.isnan(numerator) else math.copysign(math.inf, numerator) * math.copysign(1, denominator)
    )
