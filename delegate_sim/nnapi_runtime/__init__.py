"""Simulation of the NNAPI runtime of Android 13 (feature level 8), without drivers.

``builder.ModelBuilder`` checks operands, operations and models, and computes the feature level that a model needs.
``compilation.compile_model`` compiles a model for a list of devices. ``rules`` lists all checks. The functions ``compile``,
``validate_operand`` and ``validate_operation`` take test cases and return results as plain data (see ``cases``).

Upstream: packages/modules/NeuralNetworks of Android 13.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a function of ``cases``, which is imported on first use, because code that only builds models does not need it."""
    if name not in ("compile", "validate_operand", "validate_operation"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".cases", __name__), name)
