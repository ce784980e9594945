"""How many simulations of a model a question is worth: of a large one fewer, so that the answer takes some seconds at most."""

from __future__ import annotations

from ..graph.graph import file_graphs
from ..limits import raised
from ..model.model import Model

_MOST_NODES = 200_000
"""Nodes of all simulations for one question together."""
_OF_A_CLASS = 25
"""How many nodes that are like others take as long as the first of a class."""


def simulations_of(model: Model, at_least: int, at_most: int) -> int:
    """Return how many simulations a question is worth."""
    nodes = sum([len(graph.nodes) + _OF_A_CLASS * len(set(graph.node_classes)) for graph in file_graphs(model)])
    return min(at_most, max(at_least, raised(_MOST_NODES) // max(nodes, 1)))


class Tries:
    """What may still be tried."""

    def __init__(self, count: int) -> None:
        self._left = count

    @property
    def are_over(self) -> bool:
        """Whether nothing more may be tried."""
        return self._left <= 0

    def take(self) -> bool:
        """Whether one more thing may be tried; it then counts as tried."""
        self._left -= 1
        return self._left >= 0
