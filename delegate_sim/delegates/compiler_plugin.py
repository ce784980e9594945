"""Compiler plugins, which select nodes of a file before the runtime loads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..graph.graph import Graph
from ..releases.catalogue import NEWEST, Release
from .base import Delegate
from .decision import Decision
from .options import OptionValues


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


class CompilerPlugin(Delegate):
    """A delegate that compiles parts of the file, in place of being applied to what was loaded."""

    is_plugin = True

    def decide_model(
        self, graphs: Sequence[Graph], options: OptionValues, release: Release = NEWEST, ended: frozenset[str] = frozenset()
    ) -> ModelDecision:
        """Look at all subgraphs of a file; ``ended`` are codes of failures that are taken not to occur."""
        raise NotImplementedError
