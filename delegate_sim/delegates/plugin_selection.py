"""The selection of a compiler plugin, before the runtime loads the model."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Decision


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """The reason why a compiler plugin takes nothing of a model: ``stage`` is ``load`` or ``partition``."""

    stage: str
    subgraph: int
    node: int | None
    tensor: int | None
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class ModelDecision:
    """A compiler plugin's decisions about a model, one for each subgraph; None for one that it is not asked about."""

    decisions: tuple[Decision | None, ...]
    log_lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: ModelFailure | None = None
    taken: tuple[frozenset[int], ...] = ()
    """The nodes of each subgraph that run as part of a node of another, whose body the subgraph is; empty if there are none."""
    removed: frozenset[int] = frozenset()
    """Subgraphs that the model no longer has after the plugin, since their nodes went elsewhere."""
