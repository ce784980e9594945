"""The position of CPU nodes relative to the delegated nodes of a run, computed once for all causes."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ...hypothetical.hypothetical_changes import NodeKey
from ..examiner import Examined


class Surroundings:
    """The nodes of a run that lie before, behind and between delegated nodes."""

    def __init__(self, examined: Examined) -> None:
        self._run, self._change = examined

    def is_at_an_end(self, keys: Iterable[NodeKey]) -> bool:
        """Return whether the nodes are at the model's start or end: no delegated node precedes the nodes, or none follows them.

        Delegated nodes that are independent of these nodes may still run in a separate partition.
        """
        present = frozenset(self._change.present(keys).values())
        if not present.isdisjoint(self._between):
            return False
        return present.isdisjoint(self._before) or present.isdisjoint(self._behind)

    @functools.cached_property
    def _between(self) -> frozenset[NodeKey]:
        """The CPU nodes that run between two partitions of the delegate."""
        nodes: list[NodeKey] = []
        for subgraph in self._run.subgraphs:
            delegated = [number for number, subset in enumerate(subgraph.subsets) if subset.is_delegated]
            between = subgraph.subsets[delegated[0] : delegated[-1]] if delegated else ()
            for subset in between:
                if not subset.is_delegated:
                    nodes += [NodeKey(subgraph.graph.index, node) for node in subset.nodes]
        return frozenset(nodes)

    @functools.cached_property
    def _before(self) -> frozenset[NodeKey]:
        return self._connected(forwards=False)

    @functools.cached_property
    def _behind(self) -> frozenset[NodeKey]:
        return self._connected(forwards=True)

    def _connected(self, *, forwards: bool) -> frozenset[NodeKey]:
        """Return the nodes that depend on delegated nodes, or the nodes that delegated nodes depend on (not ``forwards``)."""
        connected: set[NodeKey] = set()
        for subgraph in self._run.subgraphs:
            graph = subgraph.graph
            neighbors = graph.readers if forwards else graph.writers
            waiting = list(subgraph.delegated)
            while waiting:
                node = graph.nodes[waiting.pop()]
                for tensor in node.outputs if forwards else node.inputs:
                    for other in neighbors.get(tensor, ()):
                        key = NodeKey(graph.index, other.index)
                        if key not in connected:
                            connected.add(key)
                            waiting.append(other.index)
        return frozenset(connected)
