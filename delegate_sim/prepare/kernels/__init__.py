"""Prepare functions of the CPU kernels, by families of operators.

A module is imported only if a model has an operator of its families.
"""

from __future__ import annotations

from importlib import import_module

from ...model.schema import FAMILY_OF
from ...rules.rule import modules_of_families
from ..kernel import KERNELS, Kernel

_CUSTOM = "CUSTOM:"
"""The prefix of custom operators."""
_MODULES = modules_of_families(
    activation="activation conversion",
    filling="filling random",
    images="pooling resizing detection signal",
    matrix="matrix reduction",
    reshaping="reshaping padding",
)


def find_kernel(op: str) -> Kernel | None:
    """Return the Prepare function of an operator, or None if this package lacks it.

    A custom operator has the name ``CUSTOM:NAME``.
    """
    if op not in KERNELS:
        module = "images" if op.startswith(_CUSTOM) else _MODULES.get(FAMILY_OF.get(op, ""))
        if module is not None:
            import_module(f".{module}", __package__)
    return KERNELS.get(op)
