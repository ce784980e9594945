"""Decisions about the nodes in the bodies of composites.

If a composite was inlined, each node of the body gets the verdict on its inlined copy. Otherwise, each node of the body gets
the verdict on the composite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...graph.graph import Graph
from ...releases.catalogue import Release
from ...rules.rule import ACCEPTED, Verdict
from ..decision import Decision, FileNode
from .composites import COMPOSITE, Composite, composite_of


@dataclass(frozen=True, slots=True)
class Fate:
    """The verdict on a node of a body, and whether the node runs on the NPU."""

    verdict: Verdict
    is_taken: bool


@dataclass(frozen=True, slots=True)
class Completed:
    """The decisions about all subgraphs, including the bodies of composites.

    For each subgraph, ``taken`` has the nodes that run on the NPU as part of another subgraph. ``removed`` has the subgraphs that
    LiteRT removes.
    """

    decisions: tuple[Decision | None, ...]
    taken: tuple[frozenset[int], ...]
    removed: frozenset[int]


def body_decisions(graphs: Sequence[Graph], decisions: Sequence[Decision | None], release: Release) -> Completed:
    """Add decisions about the bodies of composites. LiteRT removes a body if the composite was inlined or compiled."""
    fates: dict[FileNode, Fate] = {}
    seen: set[int] = set()
    for decision in decisions:
        if decision is not None:
            for place, fate in _fates(graphs, decision, release, seen):
                fates.setdefault(place, fate)
    completed, taken_nodes = list(decisions), [frozenset[int]()] * len(graphs)
    for graph in graphs if fates else ():
        own = {index: fates[graph.index, index] for index in graph.execution_plan if (graph.index, index) in fates}
        if own and decisions[graph.index] is None:
            completed[graph.index] = Decision(graph, {index: fate.verdict for index, fate in own.items()})
            taken_nodes[graph.index] = frozenset([index for index, fate in own.items() if fate.is_taken])
    removed = {place[0] for decision in decisions if decision is not None for place in decision.places.values()}
    removed |= {
        composite.body
        for decision in decisions
        if decision is not None
        for index in decision.nodes
        if decision.graph.nodes[index].op == COMPOSITE
        and (composite := composite_of(decision.graph.model, decision.graph.nodes[index], release)) is not None
    }
    return Completed(tuple(completed), tuple(taken_nodes), frozenset(removed))


def _fates(graphs: Sequence[Graph], decision: Decision, release: Release, seen: set[int]) -> Iterator[tuple[FileNode, Fate]]:
    """Yield the nodes inside composites. ``seen`` has the bodies that are done: the first composite sets a body's fate."""
    places = decision.places
    delegated = set(decision.nodes)
    for index in decision.graph.execution_plan:
        node = decision.graph.nodes[index]
        if index not in places and node.op != COMPOSITE:
            continue
        fate = Fate(decision.verdicts.get(index, ACCEPTED), index in delegated)
        if index in places:
            yield places[index], fate
        composite = composite_of(decision.graph.model, node, release) if node.op == COMPOSITE else None
        if composite is not None:
            verdict = ACCEPTED if fate.is_taken else fate.verdict
            yield from _nodes_inside(graphs, composite, Fate(verdict, fate.is_taken), release, seen)


def _nodes_inside(
    graphs: Sequence[Graph], composite: Composite, fate: Fate, release: Release, seen: set[int]
) -> Iterator[tuple[FileNode, Fate]]:
    """Yield the nodes of a composite's body and of all nested bodies. Each node gets the ``fate`` of the composite."""
    if composite.body in seen or not 0 <= composite.body < len(graphs):
        return
    seen.add(composite.body)
    graph = graphs[composite.body]
    for index in graph.execution_plan:
        yield (graph.index, index), fate
        inner = composite_of(graph.model, graph.nodes[index], release)
        if inner is not None:
            yield from _nodes_inside(graphs, inner, fate, release, seen)
