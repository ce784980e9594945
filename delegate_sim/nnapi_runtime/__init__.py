"""Android's NNAPI runtime around the drivers, as of Android 13 (feature level 8).

Without a device, this package checks operands, operations and whole models (``builder.ModelBuilder``), computes the feature level
that they need, and compiles models for a set of devices (``compilation.compile_model``). ``rules`` lists all checks.
The functions here take test cases as plain data, and return plain data.

Upstream: packages/modules/NeuralNetworks of Android 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Callers that build models need neither cases nor the planner that cases import.


def validate_operand(case: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a case as ``cases.validate_operand`` does."""
    from .cases import validate_operand

    return validate_operand(case)


def validate_operation(case: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a case as ``cases.validate_operation`` does for Android 13."""
    from .cases import validate_operation

    return validate_operation(case)


def compile(case: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a case as ``cases.compile`` does."""
    from .cases import compile

    return compile(case)
