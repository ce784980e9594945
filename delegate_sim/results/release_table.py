"""One model on one delegate in every release of the runtime: which releases take it, and what changes from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..delegates.base import Delegate, OptionValues
from ..model.model import Model
from ..releases.catalogue import KNOWN_RELEASES, Release, parse_release
from ..releases.notes import unknown_build
from ..rules.rule import Reason
from ..runtime.interpreter import Run, simulate
from ..runtime.resolver import unresolved
from .measures import Measures, measure
from .report import node_reasons


class Unloaded(NamedTuple):
    """An operator in a version that a release's own kernels do not load."""

    op: str
    version: int


class Move(NamedTuple):
    """Nodes of one operator whose verdict differs from the previous release's, and why the one or the other refused them."""

    op: str
    is_delegated: bool
    reasons: tuple[Reason, ...]
    nodes: tuple[tuple[int, int], ...]
    """Subgraph and node."""


@dataclass(frozen=True)
class ReleaseRow:
    """One release."""

    release: Release
    unloaded: tuple[Unloaded, ...]
    measures: Measures
    moves: tuple[Move, ...]
    """Empty for the first release."""
    notes: tuple[str, ...]
    """What is uncertain about the release's rules."""
    is_certain: bool = True
    """Whether it is known that the delegate's kernels can be made."""

    @property
    def is_loaded(self) -> bool:
        """Whether the release's own kernels load the model."""
        return not self.unloaded

    @property
    def is_full(self) -> bool:
        """Whether the model is loaded and every node is delegated, as far as is known."""
        return self.is_certain and self.is_loaded and self.measures.outcome == "delegated" and not self.measures.fallback_nodes


@dataclass(frozen=True)
class ReleaseTable:
    """All releases, oldest first."""

    model: Model
    delegate: Delegate
    options: OptionValues
    rows: tuple[ReleaseRow, ...]

    @property
    def full(self) -> tuple[Release, ...]:
        """The releases that load the model and delegate all of it."""
        return tuple(row.release for row in self.rows if row.is_full)

    @property
    def first_loading(self) -> tuple[Release, tuple[Unloaded, ...]] | None:
        """The first release that loads the model, and what the previous one does not load; None if none does.

        Nothing is known about the release before the first known one.
        """
        for number, row in enumerate(self.rows):
            if row.is_loaded:
                return row.release, self.rows[number - 1].unloaded if number else ()
        return None


def release_table(
    model: Model, delegate: Delegate, options: OptionValues, defaults: str, releases: Sequence[str] = KNOWN_RELEASES
) -> ReleaseTable:
    """Simulate a model in releases of the runtime, ordered by the age of their rules, oldest first."""
    ordered = sorted(map(parse_release, releases), key=lambda release: (release.order, release.family == "litert"))
    rows: list[ReleaseRow] = []
    before: Run | None = None
    for release in ordered:
        run = simulate(model, delegate, options, release, defaults)
        moves = () if before is None else tuple(_moves(before, run))
        unknown = tuple([warning for warning in run.warnings if unknown_build(release) in warning])
        said = (*delegate.release_notes(release), *unknown)
        rows.append(ReleaseRow(release, _unloaded(model, release), measure(run), moves, said, is_certain=not unknown))
        before = run
    return ReleaseTable(model, delegate, options, tuple(rows))


def _unloaded(model: Model, release: Release) -> tuple[Unloaded, ...]:
    nodes = [node for subgraph in model.subgraphs for node in subgraph.nodes if not node.is_custom]
    versions = dict.fromkeys([Unloaded(node.op, node.version) for node in nodes])
    return tuple([one for one in versions if unresolved(one.op, one.version, release) is not None])


def _moves(before: Run, after: Run) -> list[Move]:
    """Group the nodes that moved since the previous release by operator and reasons."""
    found: dict[tuple[str, bool, tuple[Reason, ...]], list[tuple[int, int]]] = {}
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        graph = new.graph
        for index in graph.execution_plan:
            is_delegated = index in new.delegated
            if is_delegated == (index in old.delegated):
                continue
            refusing, run = (old, before) if is_delegated else (new, after)
            reasons = node_reasons(refusing, index, run.refusal)
            found.setdefault((graph.nodes[index].op, is_delegated, reasons), []).append((graph.index, index))
    return [Move(op, is_delegated, reasons, tuple(nodes)) for (op, is_delegated, reasons), nodes in found.items()]
