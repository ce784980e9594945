"""Filling, repeating and counting."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import copying
from ...gpu_compatibility.checks import COMPATIBILITY, runtime_operands
from ..build.reader import Parser, parse_one_to_one
from .checks import INT32, UP_TO_1, gpu_rule

RULES = {
    "ONE_HOT": gpu_rule(
        "OneHotOperationParser",
        *copying.ONE_HOT,
        version_in=UP_TO_1,
        cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckOneHotGpuDelegateCompatibility")),
        inputs=INT32,
    ),
    "TILE": gpu_rule("TileOperationParser", runtime_operands(1, 1)),
}


# Building the model


PARSERS: Mapping[str, Parser] = {
    "ONE_HOT": parse_one_to_one,
    "TILE": parse_one_to_one,
}
