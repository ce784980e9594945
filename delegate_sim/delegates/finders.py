"""Finders that the rules of several delegates share: each says what a node has where it does not meet a demand."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..graph.graph import NodeView
from ..model import schema

NodeFinder = Callable[[NodeView], str | None]
"""Returns what was found where the demand is not met, None where it is."""


def found_if(condition: Callable[[NodeView], bool], found: str) -> NodeFinder:
    """Find what is the same wherever it is found."""
    return lambda node: found if condition(node) else None


def version_above(limit: int) -> NodeFinder:
    """Find an operator version above the limit."""
    return lambda node: None if node.version <= limit else f"version {node.version}"


def not_constant(position: int, name: str) -> NodeFinder:
    """Find an operand that does not stand in the model file (``kTfLiteMmapRo``), or is left out."""
    return lambda node: None if node.input(position).is_constant else f"{name} is not constant"


def fused_activation(node: NodeView) -> str:
    """``ConvertActivation`` (``flatbuffer_conversions.cc``): what is unknown counts as none."""
    return schema.enum_names("ActivationFunctionType").get(node.options.fused_activation_function, "NONE")


def activation_outside(allowed: Collection[str]) -> NodeFinder:
    """Find a fused activation that is not among these."""
    return lambda node: None if (found := fused_activation(node)) in allowed else f"fused {found}"
