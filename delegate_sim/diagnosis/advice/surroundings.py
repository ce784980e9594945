"""The nodes of causes in a run: their position between accepted nodes, and other delegates that take them."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator

from ...delegates.base import Delegate
from ...delegates.options import parse_options
from ...delegates.registry import DELEGATE_NAMES, PLUGIN_NAMES, find_delegate
from ...graph.effort import Effort
from ...hypothetical.hypothetical_changes import NodeKey
from ...results.report.measures import TAKEN, measure
from ...runtime.interpreter import simulate
from ...runtime.run import SubgraphRun
from ...runtime.target import Target
from ..examiner import Examined


class Surroundings:
    """The nodes before, behind and between the accepted nodes of a run, computed once for all causes.

    Accepted nodes include nodes that a limit on partitions keeps on the CPU.
    """

    def __init__(self, examined: Examined) -> None:
        self._run, self._change = examined.run, examined.change

    def is_at_an_end(self, keys: Iterable[NodeKey]) -> bool:
        """Return whether the given nodes are at the model's start or end.

        At the start, the nodes depend on no accepted node. At the end, no accepted node depends on the nodes. If a given node
        runs between two accepted nodes, the result is false.
        """
        present = frozenset(self._change.present(keys).values())
        if not present.isdisjoint(self._between):
            return False
        return present.isdisjoint(self._before) or present.isdisjoint(self._behind)

    @functools.cached_property
    def _between(self) -> frozenset[NodeKey]:
        nodes: list[NodeKey] = []
        for subgraph in self._run.subgraphs:
            accepted = _accepted(subgraph)
            order = [node for subset in subgraph.subsets for node in subset.nodes]
            places = [place for place, node in enumerate(order) if node in accepted]
            between = order[places[0] : places[-1]] if places else []
            nodes += [NodeKey(subgraph.graph.index, node) for node in between if node not in accepted]
        return frozenset(nodes)

    @functools.cached_property
    def _before(self) -> frozenset[NodeKey]:
        return self._connected(forwards=False)

    @functools.cached_property
    def _behind(self) -> frozenset[NodeKey]:
        return self._connected(forwards=True)

    def _connected(self, *, forwards: bool) -> frozenset[NodeKey]:
        """Return the nodes that depend on accepted nodes.

        If ``forwards`` is false, return the nodes that accepted nodes depend on.
        """
        connected: set[NodeKey] = set()
        for subgraph in self._run.subgraphs:
            graph = subgraph.graph
            neighbors = graph.readers if forwards else graph.writers
            waiting = list(_accepted(subgraph))
            seen: set[int] = set()
            while waiting:
                node = graph.nodes[waiting.pop()]
                tensors = set(node.outputs if forwards else node.inputs) - seen
                seen |= tensors
                for tensor in tensors:
                    for other in neighbors.get(tensor, ()):
                        key = NodeKey(graph.index, other.index)
                        if key not in connected:
                            connected.add(key)
                            waiting.append(other.index)
        return frozenset(connected)


def _accepted(subgraph: SubgraphRun) -> frozenset[int]:
    decision = subgraph.decision
    return frozenset(subgraph.delegated) | (frozenset() if decision is None else frozenset(decision.set_aside))


class Others:
    """Other delegates for the nodes of a run. An analysis simulates each delegate once, alone and with default options.

    A delegate that the runtime does not apply to the model takes no nodes.
    """

    def __init__(self, examined: Examined, effort: Effort) -> None:
        self._examined = examined
        self._effort = effort

    def taking(self, nodes: Collection[NodeKey], operators: Collection[str]) -> Iterator[str]:
        """Yield the names of the delegates that accept all nodes in ``nodes``.

        ``operators`` are the operators of the nodes. The search ends early if the limit on simulations is reached.
        """
        present = frozenset(self._examined.change.present(nodes).values())
        if not present:
            return
        for other in self._effort.limit(self._delegates):
            if all(map(other.rules.has_rule, operators)) and present <= self._taken_by(other):
                yield other.name

    @functools.cached_property
    def _delegates(self) -> tuple[Delegate, ...]:
        own = self._examined.run.delegate.name
        return tuple([find_delegate(name) for name in DELEGATE_NAMES if name not in (own, *PLUGIN_NAMES)])

    def _taken_by(self, delegate: Delegate) -> frozenset[NodeKey]:
        model, release = self._examined.change.model, self._examined.run.release

        def simulated() -> frozenset[NodeKey]:
            target = Target(delegate, parse_options(delegate.name, delegate.options, {}), release)
            self._effort.spend(target.effort)
            run = simulate(model, target, cache=self._effort.cache)
            is_applied = measure(run).outcome == TAKEN
            return frozenset([NodeKey(own.graph.index, node) for own in run.subgraphs if is_applied for node in _accepted(own)])

        return self._effort.cache.get("nodes taken", (model, delegate, release), simulated)
