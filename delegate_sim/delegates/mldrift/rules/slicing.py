"""Slices that are read, written or reversed."""

from __future__ import annotations

from ...gpu_compatibility import reduction
from ..demands.parsing import parsed_by
from ..demands.reading import (
    INPUT_AXES,
    RESULTS,
    readable,
)
from ..demands.slicing import DYNAMIC_UPDATE_SLICE, SLICE, STRIDED_SLICE
from ..demands.tensors import with_tensors

RULES = with_tensors(
    {
        "DYNAMIC_UPDATE_SLICE": DYNAMIC_UPDATE_SLICE,
        "REVERSE_V2": parsed_by("ReverseOperationParser", *reduction.MEAN, *readable(0), *RESULTS, INPUT_AXES),
        "SLICE": SLICE,
        "STRIDED_SLICE": STRIDED_SLICE,
    }
)
