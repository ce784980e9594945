"""Which other delegates take the nodes of a cause, each with its own defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator

from ..delegates.base import Delegate
from ..delegates.registry import DELEGATE_NAMES, PLUGIN_NAMES, find_delegate
from ..options import parse_options
from ..runtime.suppositions import NodeKey
from .examiner import Examined


class Others:
    """Asks the rules of other delegates about the nodes of a run, those of one delegate only once."""

    def __init__(self, examined: Examined) -> None:
        self._examined = examined
        self._taken: dict[str, frozenset[NodeKey]] = {}

    def taking(self, nodes: Collection[NodeKey], operators: Collection[str]) -> Iterator[str]:
        """Return the delegates that take all of some nodes of the file, which are of these operators."""
        run, change = self._examined
        present = frozenset(change.present(nodes).values())
        for name in DELEGATE_NAMES:
            if name in (run.delegate.name, *PLUGIN_NAMES) or not present:
                continue
            other = find_delegate(name)
            if all(op in other.rules.rules for op in operators) and present <= self._taken_by(other):
                yield name

    def _taken_by(self, delegate: Delegate) -> frozenset[NodeKey]:
        if delegate.name not in self._taken:
            run = self._examined.run
            options = parse_options(delegate.name, delegate.options, {})
            self._taken[delegate.name] = frozenset(
                [
                    NodeKey(subgraph.graph.index, node)
                    for subgraph in run.subgraphs
                    for node, verdict in delegate.decide(
                        dataclasses.replace(subgraph.graph, assumed=frozenset()), options, run.release
                    ).verdicts.items()
                    if verdict.is_supported
                ]
            )
        return self._taken[delegate.name]
