"""Simulation of the NNAPI runtime of Android 13 (feature level 8), without drivers.

``builder.ModelBuilder`` checks operands, operations and models, and computes the feature level that a model needs.
``compilation.compile_model`` compiles a model for a list of devices. ``rules`` lists all checks. The functions in this module
take test cases and return results as plain data.

Upstream: packages/modules/NeuralNetworks of Android 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# ``cases`` is imported on first use, because code that only builds models does not need it.


def validate_operand(case: Mapping[str, Any]) -> dict[str, Any]:
    """Check the operand in a test case (see ``cases.validate_operand``)."""
    from .cases import validate_operand

    return validate_operand(case)


def validate_operation(case: Mapping[str, Any]) -> dict[str, Any]:
    """Check the operation in a test case by the rules of Android 13 (see ``cases.validate_operation``)."""
    from .cases import validate_operation

    return validate_operation(case)


def compile(case: Mapping[str, Any]) -> dict[str, Any]:
    """Compile the model in a test case (see ``cases.compile``)."""
    from .cases import compile

    return compile(case)
