"""Crashes of LiteRT while it writes a compiled model.

In measurements, LiteRT crashed for every model in which two composites share a body. LiteRT also crashed for nearly every model
in which an inlined node has an unused result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...graph.graph import Graph
from ...releases.catalogue import Release
from ..decision import Decision
from .composites import COMPOSITE, composite_of


def crash_warnings(graphs: Sequence[Graph], decisions: Sequence[Decision | None], release: Release) -> Iterator[str]:
    """Yield warnings that LiteRT will crash when it writes the compiled model."""
    composites = [composite_of(graph.model, node, release) for graph in graphs for node in graph.nodes if node.op == COMPOSITE]
    shared = [
        body
        for body, count in Counter([composite.body for composite in composites if composite is not None]).items()
        if count > 1
    ]
    if shared:
        yield f"LiteRT will crash when it writes the model, because several composites have subgraph {min(shared)} as their body"
    for decision in decisions:
        node = None if decision is None else _unread(decision)
        if decision is not None and node is not None:
            subgraph, index = decision.places[node]
            yield (
                "LiteRT will crash when it writes the model, because a result of the inlined node "
                f"{index} ({decision.graph.nodes[node].op}) of subgraph {subgraph} is unused"
            )


def _unread(decision: Decision) -> int | None:
    """Return the first inlined node with an unused result, or None if all results are used."""
    graph = decision.graph
    for index in graph.execution_plan:
        if index in decision.places and any(
            tensor >= 0 and tensor not in graph.readers and tensor not in graph.outputs for tensor in graph.nodes[index].outputs
        ):
            return index
    return None
