"""Slices that are read, written or reversed."""

from __future__ import annotations

from ....rules.numbers import at_least, exactly
from ....rules.operands import operand
from ....rules.vocabulary import operand_count, rank
from ...gpu_compatibility import slicing
from .checks import UP_TO_2, UP_TO_4, gpu_rule

_INPUT = operand(0, "input")

RULES = {
    "SLICE": gpu_rule("SliceOperationParser", operand_count(at_least(3)), rank(_INPUT, exactly(3, 4)), version_in=UP_TO_2),
    "STRIDED_SLICE": gpu_rule(
        "StridedSliceOperationParser",
        *slicing.SLICE_MASKS,
        rank(_INPUT, exactly(3, 4)),
        version_in=UP_TO_4,
    ),
}
