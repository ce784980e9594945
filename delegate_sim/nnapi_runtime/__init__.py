"""What Android's NNAPI runtime does with a model before a driver sees it, as of Android 13 (feature level 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import cases

__all__ = ["compile", "validate_operand", "validate_operation"]


def validate_operand(case: Mapping[str, Any]) -> dict[str, Any]:
    """Tell whether one operand can be added and given its value."""
    return cases.validate_operand(case)


def validate_operation(case: Mapping[str, Any], android: int = 13) -> dict[str, Any]:
    """Tell whether an operation with these operands is accepted, and from which feature level on."""
    return cases.validate_operation(case, android)


def compile(case: Mapping[str, Any]) -> dict[str, Any]:
    """Tell what the runtime compiles a model to on a set of devices."""
    return cases.compile(case)
