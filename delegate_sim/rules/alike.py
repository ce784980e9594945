"""Nodes that are alike get one verdict: each class of nodes is judged once for a graph and a target.

A class is what ``Graph.node_classes`` tells apart. That a verdict rests on nothing else is observed: the rules are shown the
first node of a class in a form that holds no more (``graph.watched``). Nodes of a class about which a rule asks for more, such as
neighbours or large constants, are judged one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from ..graph.graph import Graph
from ..graph.last_found import LastFound
from ..graph.watched import LooksFurther, watched_view
from ..model.model import Node
from ..named_tuples import NamedTuple
from .book import RuleBook, RuleTarget
from .rule import ACCEPTED, Verdict

T = TypeVar("T", bound=RuleTarget)


class _Judged(NamedTuple):
    """What is known of classes of nodes."""

    kept: dict[Hashable, Verdict]
    """The verdict on each that was judged as a whole."""
    apart: set[Hashable]
    """Those whose nodes are judged one by one."""


_KNOWN = LastFound(lambda: _Judged({}, set()))
"""By the rules and the target. The numbers of classes hold for all graphs of a model, and of what is made of it."""


class Judge(Generic[T]):
    """The verdicts of rules on the nodes of one graph, for one target.

    Where part of the target changes meanwhile, ``noted`` tells what of it counts for a node, and ``watched`` is the target as it
    is shown while it is observed what the verdict on the node rests on: asked for anything else that changes, it must raise
    ``LooksFurther``.
    """

    def __init__(
        self,
        graph: Graph,
        rules: RuleBook[T],
        target: T,
        noted: Callable[[Node], Hashable] | None = None,
        watched: Callable[[Node], T] | None = None,
    ) -> None:
        self._graph = graph
        self._rules = rules
        self._target = target
        self._noted = noted
        self._watched = watched or (lambda _: target)
        self._kept, self._apart = _Judged({}, set()) if noted is not None else _KNOWN.of(graph.model, rules, target)

    def verdict(self, node: Node) -> Verdict:
        """Return the verdict on a node, which may be one of the graph's with other operands."""
        if node.index in self._graph.assumed:
            return ACCEPTED
        number: Hashable = self._graph.class_of(node)
        if self._noted is not None:
            number = number, self._noted(node)
        if number in self._apart:
            return self._rules.judge(self._graph.view(node), self._target)
        found = self._kept.get(number)
        if found is None:
            view = self._graph.view(node)
            try:
                found = self._kept[number] = self._rules.judge(watched_view(view), self._watched(node))
            except LooksFurther:
                self._apart.add(number)
                return self._rules.judge(view, self._target)
        return found

    def verdicts(self, nodes: Iterable[int]) -> dict[int, Verdict]:
        """Return the verdicts on nodes of the graph, by index."""
        if self._noted is not None:
            return {index: self.verdict(self._graph.nodes[index]) for index in nodes}
        graph, kept, indices = self._graph, self._kept, list(nodes)
        classes = [graph.node_classes[index] for index in indices]
        first = dict(zip(reversed(classes), reversed(indices), strict=True))
        judged = {index: self.verdict(graph.nodes[index]) for number, index in first.items() if number not in kept}
        found = dict(zip(indices, map(kept.get, classes), strict=True)) | judged
        return {
            index: self.verdict(graph.nodes[index]) if verdict is None or index in graph.assumed else verdict
            for index, verdict in found.items()
        }
