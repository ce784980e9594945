"""Arithmetic of 32-bit floating-point numbers, computed with Python's 64-bit numbers.

``numpy.float32`` would give the same results, but importing numpy takes as long as a whole short command. Sums, differences,
products, quotients and square roots of 32-bit numbers can be computed in 64 bits and then rounded to 32 bits. The result is the
same as in 32-bit arithmetic (Figueroa, "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import math
import struct

SMALLEST_NORMAL = 2.0**-126


def float32(value: float) -> float:
    """Round to single precision."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def quotient(numerator: float, denominator: float) -> float:
    """Divide in single precision. Division by zero gives infinity or NaN."""
    numerator, denominator = float32(numerator), float32(denominator)
    if denominator:
        return float32(numerator / denominator)
    return (
        math.nan if not numerator or math.isnan(numerator) else math.copysign(math.inf, numerator) * math.copysign(1, denominator)
    )
