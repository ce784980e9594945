"""Assumptions about a model, for hypothetical changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions under which a model is simulated."""

    accepted: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """For each subgraph, the nodes that every delegate is assumed to accept."""
    fixed_shapes: bool = False
    """Whether every tensor has its shape from the model file."""
    repaired: frozenset[tuple[int, int]] = frozenset()
    """Nodes that the CPU kernels are assumed to accept, as (subgraph, node)."""
    ended: frozenset[str] = frozenset()
    """Codes of failures of a compiler plugin. These failures are assumed not to occur."""
    registered: frozenset[str] = frozenset()
    """Custom operators that the application is assumed to register, or that run on a delegate that is not simulated."""


NOTHING_ASSUMED = Assumptions()
