"""Simulation of Android's NNAPI runtime, without the drivers, as of Android 13 (feature level 8).

This package checks operands, operations and whole models (``builder.ModelBuilder``). It computes the feature level that a model
needs, and compiles a model for a list of described devices (``compilation.compile_model``). It runs without an Android device.
``rules`` lists all checks. The functions in this module take test cases as plain data and return plain data.

Upstream: packages/modules/NeuralNetworks of Android 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# ``cases`` is imported on demand: code that only builds models needs neither this module nor the planner that it imports.


def validate_operand(case: Mapping[str, Any]) -> dict[str, Any]:
    """Check the operand that a test case describes; see ``cases.validate_operand``."""
    from .cases import validate_operand

    return validate_operand(case)


def validate_operation(case: Mapping[str, Any]) -> dict[str, Any]:
    """Check the operation that a test case describes by the rules of Android 13; see ``cases.validate_operation``."""
    from .cases import validate_operation

    return validate_operation(case)


def compile(case: Mapping[str, Any]) -> dict[str, Any]:
    """Compile the model that a test case describes; see ``cases.compile``."""
    from .cases import compile

    return compile(case)
