"""Lowering of all operators, by families of ``model/operator_families.py``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import import_module

from .....model.operator_families import FAMILY_OF
from .....rules.families import modules_of_families
from ..operator_lowering import Lowering, Lowerings

MODULES = ("arithmetic", "layers", "shapes")
_OF_FAMILIES = modules_of_families(
    arithmetic="activation arithmetic conversion reduction",
    layers="convolution pooling resizing matrix recurrent",
    shapes="reshaping slicing joining padding gathering filling",
)


def find_lowering(op: str) -> Lowering | None:
    """Return the lowering of an operator, or None if the operator has no lowering.

    The operator's module is imported at the first call.
    """
    module = _OF_FAMILIES.get(FAMILY_OF.get(op, ""))
    return _lowerings(module).get(op) if module in MODULES else None


@functools.cache
def driver_operations() -> Mapping[str, str]:
    """Return the NNAPI operation of each operator. Omit operators that always become several operations."""
    return {op: lowering.operation for module in MODULES for op, lowering in _lowerings(module).items() if lowering.operation}


@functools.cache
def _lowerings(module: str) -> Lowerings:
    lowerings: Lowerings = import_module(f".{module}", __package__).LOWERINGS
    return lowerings
