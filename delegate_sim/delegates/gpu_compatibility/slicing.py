"""Slices."""

from __future__ import annotations

from ...rules.hints import by_reshape
from ...rules.number_sets import at_least
from ...rules.vocabulary import operand_count, option

SLICE_MASKS = (
    option("ellipsis_mask", 0, hint="slice without an ellipsis").saying("Slice does not support ellipsis_mask."),
    option("new_axis_mask", 0, hint=by_reshape("add the dimension with RESHAPE")).saying("Slice does not support new_axis_mask."),
    option("shrink_axis_mask", 0, hint=by_reshape("drop the dimension with RESHAPE")).saying(
        "Slice does not support shrink_axis_mask parameter. "
    ),
    operand_count(at_least(4)).saying("STRIDED_SLICE requires 4 inputs."),
)
"""The first checks of STRIDED_SLICE. ML Drift's own parser repeats these checks with the same messages."""
