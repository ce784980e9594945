"""Nodes that are alike get one verdict: each class of nodes is judged once for a graph and a target.

A class is what ``Graph.node_classes`` tells apart. That a verdict rests on nothing else is observed: the rules are shown the
first node of a class in a form that holds no more (``graph.watched``). Nodes of a class about which a rule asks for more, such as
neighbours or large constants, are judged one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from ..graph.graph import Graph
from ..graph.watched import LooksFurther, WatchedView
from ..model.model import Node
from .book import RuleBook, RuleTarget
from .rule import ACCEPTED, Verdict

T = TypeVar("T", bound=RuleTarget)


class Judge(Generic[T]):
    """The verdicts of rules on the nodes of one graph, for one target that does not change meanwhile.

    ``watched`` stands for the target while it is observed what a verdict rests on, where part of the target does change: asked
    for that part it must raise ``LooksFurther``.
    """

    def __init__(self, graph: Graph, rules: RuleBook[T], target: T, watched: T | None = None) -> None:
        self._graph = graph
        self._rules = rules
        self._target = target
        self._watched = target if watched is None else watched
        self._kept: dict[int, Verdict] = {}
        """The verdict on each class that was judged as a whole."""
        self._apart: set[int] = set()
        """The classes whose nodes are judged one by one."""

    def verdict(self, node: Node) -> Verdict:
        """Return the verdict on a node, which may be one of the graph's with other operands."""
        if node.index in self._graph.assumed:
            return ACCEPTED
        number = self._graph.class_of(node)
        if number in self._apart:
            return self._rules.judge(self._graph.view(node), self._target)
        found = self._kept.get(number)
        if found is None:
            view = self._graph.view(node)
            try:
                found = self._kept[number] = self._rules.judge(WatchedView(view), self._watched)
            except LooksFurther:
                self._apart.add(number)
                return self._rules.judge(view, self._target)
        return found

    def verdicts(self, nodes: Iterable[int]) -> dict[int, Verdict]:
        """Return the verdicts on nodes of the graph, by index."""
        graph, kept = self._graph, self._kept
        classes, assumed = graph.node_classes, graph.assumed
        return {
            index: (None if index in assumed else kept.get(classes[index])) or self.verdict(graph.nodes[index]) for index in nodes
        }
