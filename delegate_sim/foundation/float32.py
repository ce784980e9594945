"""Arithmetic of 32-bit floating point numbers on Python's own, which have more than twice as many digits.

``numpy.float32`` does the same, but importing numpy takes as long as the whole of a short command.
Rounding the sum, difference, product, quotient or square root of two such numbers once more gives what they give themselves
(Figueroa, "When is double rounding innocuous?", 1995).
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
    """Divide in single precision, by zero too."""
    numerator, denominator = float32(numerator), float32(denominator)
    if denominator:
        return float32(numerator / denominator)
    return (
        math.nan if not numerator or math.isnan(numerator) else math.copysign(math.inf, numerator) * math.copysign(1, denominator)
    )
