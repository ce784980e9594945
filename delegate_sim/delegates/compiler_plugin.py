"""Compiler plugins. They compile nodes of a model file before the runtime loads the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..graph.graph import Graph
from ..refusal import Refusal
from ..releases.catalogue import NEWEST, Release
from .base import Delegate
from .decision import Decision
from .options import OptionValues


@dataclass(frozen=True, slots=True)
class PublishedRemedy:
    """Options of a vendor's compiler, the case in which the vendor recommends them, and the page that says so."""

    options: str
    when: str
    source: str


@dataclass(frozen=True, slots=True)
class ModelDecision:
    """A compiler plugin's decision about a model.

    ``decisions`` has one item for each subgraph. The item is None if the runtime does not ask the plugin about the subgraph.
    """

    decisions: tuple[Decision | None, ...]
    log_lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: Refusal | None = None
    """The reason why the plugin takes no node of the model."""
    taken: tuple[frozenset[int], ...] = ()
    """For each subgraph, the nodes that run inside a node of another subgraph. Empty if there are no such nodes."""
    removed: frozenset[int] = frozenset()
    """Subgraphs that are removed from the model after their nodes were moved."""


class CompilerPlugin(Delegate):
    """A delegate that compiles parts of the model file before the runtime loads the file."""

    is_plugin = True
    remedies_if_not_compiled: tuple[PublishedRemedy, ...] = ()
    """The remedies that the vendor publishes for selected nodes that cannot be compiled.

    No compiler was run with these remedies.
    """

    def decide_model(
        self, graphs: Sequence[Graph], options: OptionValues, release: Release = NEWEST, ended: frozenset[str] = frozenset()
    ) -> ModelDecision:
        """Decide about all subgraphs of a model file. Ignore failures with a code in ``ended``."""
        raise NotImplementedError
