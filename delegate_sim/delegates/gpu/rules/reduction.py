"""Reductions and running sums."""

from __future__ import annotations

from ...gpu_compatibility import reduction
from ...gpu_compatibility.checks import COMPATIBILITY
from .checks import UP_TO_1, gpu_rule

_REDUCTION = gpu_rule("ReduceOperationParser", *reduction.REDUCTION)

RULES = {
    "CUMSUM": gpu_rule(
        "CumsumOperationParser",
        *reduction.CUMSUM,
        version_in=UP_TO_1,
        cases=(COMPATIBILITY.symbol, "CheckCumsumGpuDelegateCompatibility"),
    ),
    "MEAN": gpu_rule("MeanOperationParser", *reduction.MEAN),
    "REDUCE_MAX": _REDUCTION,
    "REDUCE_MIN": _REDUCTION,
    "REDUCE_PROD": _REDUCTION,
    "SUM": _REDUCTION,
}
