"""Answers to a question about the nodes of a graph, each found out at the first node of a class and holding for all of it.

That an answer rests on what the class tells, and on nothing else, is observed (``graph.watched``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic, TypeVar

from ..model.model import Node
from .graph import Graph, NodeView
from .watched import LooksFurther, NumberedView

T = TypeVar("T")


class AlikeAnswers(Generic[T]):
    """What ``find`` answers about the nodes of one graph's plan, as far as nodes that are alike have the same answer."""

    def __init__(self, graph: Graph, find: Callable[[NodeView], T]) -> None:
        self._graph = graph
        self._find = find
        self._found: dict[int, T | None] = {}

    @functools.cached_property
    def _is_worthwhile(self) -> bool:
        """Whether most nodes are like another; if not, asking about each by itself takes no longer."""
        return 2 * len(set(self._graph.node_classes)) < len(self._graph.execution_plan)

    def answer(self, node: Node) -> T | None:
        """Return the answer about a node; None if it has to be asked about by itself."""
        if not self._is_worthwhile:
            return None
        number = self._graph.node_classes[node.index]
        try:
            return self._found[number]
        except KeyError:
            found = self._found[number] = self._observed(node)
            return found

    def _observed(self, node: Node) -> T | None:
        try:
            return self._find(NumberedView(self._graph.view(node)))
        except LooksFurther:
            return None
