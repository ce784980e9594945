"""Assumptions about a model, for hypothetical changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions of a what-if question."""

    accepted: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Nodes of each subgraph that count as accepted by every delegate."""
    fixed_shapes: bool = False
    """Whether every tensor has the shape that the file gives it."""
    repaired: frozenset[tuple[int, int]] = frozenset()
    """Nodes, as subgraph and node, that their CPU kernels do not refuse."""
    ended: frozenset[str] = frozenset()
    """Codes of refusals of the whole model by a compiler plugin that are taken to have ended."""
    registered: frozenset[str] = frozenset()
    """Custom operators that are registered, or run by what is applied before the delegates that are simulated."""


NOTHING_ASSUMED = Assumptions()
