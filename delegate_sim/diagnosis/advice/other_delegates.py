"""Find other delegates that take the nodes of a cause. All delegates are simulated with their default options."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from contextlib import suppress

from ...delegates.base import Delegate
from ...delegates.options import parse_options
from ...delegates.registry import DELEGATE_NAMES, PLUGIN_NAMES, find_delegate
from ...graph.effort import Effort
from ...graph.partition import PartitionError
from ...hypothetical.hypothetical_changes import NodeKey
from ..examiner import Examined


class Others:
    """Other delegates for the nodes of a run. The rules of each delegate are applied once to the run."""

    def __init__(self, examined: Examined, effort: Effort) -> None:
        self._examined = examined
        self._effort = effort
        self._taken: dict[str, frozenset[NodeKey]] = {}

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
        if delegate.name not in self._taken:
            self._effort.spend()
            run = self._examined.run
            options = parse_options(delegate.name, delegate.options, {})
            accepted: list[NodeKey] = []
            for subgraph in run.subgraphs:
                with suppress(PartitionError):  # nodes that depend on each other in a cycle cannot be replaced
                    graph = subgraph.graph.assuming(frozenset())
                    verdicts = delegate.decide(graph, options, run.release).verdicts
                    accepted += [NodeKey(graph.index, node) for node, verdict in verdicts.items() if verdict.is_supported]
            self._taken[delegate.name] = frozenset(accepted)
        return self._taken[delegate.name]
