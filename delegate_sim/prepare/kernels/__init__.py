"""Prepare functions of the CPU kernels, with one module for each family of operators.

A module is imported only if a model has an operator of its family.
"""

from __future__ import annotations

from importlib import import_module

from ...model.operator_families import FAMILY_OF
from ..kernel import KERNELS, Kernel

_CUSTOM = "CUSTOM:"
"""The prefix of custom operators."""


def find_kernel(op: str) -> Kernel | None:
    """Return the Prepare function of an operator, or None if this package lacks it.

    A custom operator has the name ``CUSTOM:NAME``.
    """
    if op not in KERNELS:
        family = "custom" if op.startswith(_CUSTOM) else FAMILY_OF.get(op)
        if family is not None:
            import_module(f".{family}", __package__)
    return KERNELS.get(op)
