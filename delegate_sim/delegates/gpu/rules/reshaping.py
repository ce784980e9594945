"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from ...gpu_compatibility import reshaping
from ...gpu_compatibility.checks import runtime_operands
from .checks import UP_TO_1, UP_TO_2, UP_TO_4, gpu_rule

RULES = {
    "DEPTH_TO_SPACE": gpu_rule("DepthToSpaceOperationParser", *reshaping.BLOCKS),
    "RESHAPE": gpu_rule("ReshapeOperationParser", runtime_operands(1, 1), version_in=UP_TO_1),
    "SPACE_TO_DEPTH": gpu_rule("SpaceToDepthOperationParser", *reshaping.BLOCKS, version_in=UP_TO_2),
    "TRANSPOSE": gpu_rule("TransposeOperationParser", runtime_operands(1, 1), version_in=UP_TO_4),
}
