"""Prepare functions of the CPU kernels, with one module for each family of operators.

A module is imported when a model has an operator of its family.
"""

from __future__ import annotations

from importlib import import_module

from ...model.operator_families import FAMILY_OF
from ..kernel import KERNELS, Kernel

_CUSTOM = "CUSTOM:"
"""The prefix that marks the names of custom operators."""


def find_kernel(op: str) -> Kernel | None:
    """Return the Prepare function of an operator; None if this package does not model the function.

    The name of a custom operator is written ``CUSTOM:NAME``.
    """
    if op not in KERNELS:
        family = "custom" if op.startswith(_CUSTOM) else FAMILY_OF.get(op)
        if family is not None:
            import_module(f".{family}", __package__)
    return KERNELS.get(op)
