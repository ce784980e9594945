"""Prepare functions of the CPU kernels: one module for each family of operators, imported when a model has one of them."""

from __future__ import annotations

from importlib import import_module

from ...model.operator_families import FAMILY_OF
from ..kernel import KERNELS, Kernel

_CUSTOM = "CUSTOM:"
"""Prefix of the names of custom operators."""


def find_kernel(op: str) -> Kernel | None:
    """Return the Prepare function of an operator, None if it has none here. Custom operators are written ``CUSTOM:NAME``."""
    if op not in KERNELS:
        family = "custom" if op.startswith(_CUSTOM) else FAMILY_OF.get(op)
        if family is not None:
            import_module(f".{family}", __package__)
    return KERNELS.get(op)
