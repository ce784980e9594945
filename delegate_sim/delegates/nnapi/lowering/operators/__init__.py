"""Lowering of all operators, in one module for each family of ``model/operator_families.py``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import import_module

from .....model.operator_families import FAMILY_OF
from ..operator_lowering import Lowering, Lowerings

FAMILIES = (
    "activation",
    "arithmetic",
    "conversion",
    "convolution",
    "filling",
    "gathering",
    "joining",
    "matrix",
    "padding",
    "pooling",
    "recurrent",
    "reduction",
    "reshaping",
    "resizing",
    "slicing",
)


def find_lowering(op: str) -> Lowering | None:
    """Return the lowering of an operator, or None if the operator has no lowering.

    The operator's module is imported at the first call.
    """
    family = FAMILY_OF.get(op)
    return _lowerings(family).get(op) if family in FAMILIES else None


@functools.cache
def driver_operations() -> Mapping[str, str]:
    """Return the NNAPI operation of each operator. Omit operators that always become several operations."""
    return {op: lowering.operation for family in FAMILIES for op, lowering in _lowerings(family).items() if lowering.operation}


@functools.cache
def _lowerings(family: str) -> Lowerings:
    lowerings: Lowerings = import_module(f".{family}", __package__).LOWERINGS
    return lowerings
