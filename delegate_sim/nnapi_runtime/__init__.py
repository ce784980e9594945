"""Android's NNAPI runtime around the drivers, as of Android 13 (feature level 8).

Three things, each without a device: whether an operand or an operation is accepted and from which feature level on, whether a
model as a whole is (``builder.ModelBuilder``), and what it is compiled to on a set of devices (``compilation.compile_model``).
``rules`` lists what can be refused. The functions here answer cases that are plain data.

Upstream: packages/modules/NeuralNetworks of Android 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Whoever builds models needs no cases, nor the planner that they bring along.


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
