"""Simulate one model on one target under hypothetical changes."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..delegates.options import parse_options
from ..foundation.columns import Declared
from ..graph.analysis_cache import AnalysisCache
from ..graph.effort import Effort
from ..hypothetical.hypothetical_changes import (
    Edited,
    HypotheticalChanges,
    NodeKey,
    changed,
    refuse_unknown_names,
    simulate_changed,
)
from ..model.model import Model
from ..releases.catalogue import Release
from ..results.report.measures import Measures, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.placement import on_cpu
from ..results.report.run_columns import COST
from ..rules.rule import Reason
from ..runtime.interpreter import Run
from ..runtime.target import Target

_KEPT_AT_LEAST, _KEPT_AT_MOST = 4, 500
"""Smallest and largest number of cached runs. Large models get fewer cached runs, because a run holds all nodes."""
_CHANGES_KEPT = 8
"""Number of changed models in the cache. Models of cached runs are not counted."""


@dataclass(frozen=True, slots=True)
class Cost(Declared):
    """The measures of a run. Multiply-adds are counts, not an estimate of latency."""

    columns = COST

    measures: Measures
    multiply_adds: int
    """Multiply-adds of delegated nodes."""
    total_multiply_adds: int = 0
    """Multiply-adds of all nodes. A hypothetical conversion may change this number."""
    delegate: str = ""
    """The name of the delegate."""

    @property
    def multiply_add_share(self) -> float:
        """The delegated share of multiply-adds, from 0 to 1. If the model has no multiply-adds, the delegated share of nodes."""
        if not self.total_multiply_adds:
            return self.measures.delegated_share
        return self.multiply_adds / self.total_multiply_adds


class RefusedNode(NamedTuple):
    """A node of the model file that stays on the CPU, with its operator and the reasons."""

    key: NodeKey
    op: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, eq=False)
class Examined:
    """A simulated run of a changed model. ``change`` maps nodes of the changed model to nodes of the original model."""

    run: Run
    change: Edited

    def on_cpu(self) -> Iterator[RefusedNode]:
        """Yield the CPU nodes of the run that also exist in the original model, in execution order.

        The keys are indices in the original model.
        """
        for subgraph, index, reasons in on_cpu(self.run):
            key = self.change.origin(NodeKey(subgraph.graph.index, index))
            if key is not None:
                yield RefusedNode(key, subgraph.graph.nodes[index].op, reasons)

    @functools.cached_property
    def cost(self) -> Cost:
        """The measures of the run."""
        compute = compute_of(self.run)
        return Cost(measure(self.run), compute.delegated_multiply_adds, compute.multiply_adds, self.run.delegate.name)


class Examiner:
    """Simulates one model on one target under hypothetical changes, with a cache."""

    def __init__(self, model: Model, target: Target, effort: Effort, cache: AnalysisCache | None = None) -> None:
        self.model = model
        self.target = target
        self._cache = cache or AnalysisCache()
        self._known: dict[tuple[Any, ...], Examined] = {}
        self._changes: deque[tuple[Any, Edited]] = deque(maxlen=_CHANGES_KEPT)
        self._effort = effort
        self._most_known = max(effort.simulations(_KEPT_AT_LEAST, _KEPT_AT_MOST), _KEPT_AT_LEAST)
        # The option may not accept its default value from users.
        self._given = {
            option.name: target.options[option.name]
            for option in target.delegate.options
            if target.options[option.name] != option.default_in(target.defaults)
        }

    def simulate(self, hypothetical: HypotheticalChanges, options: Mapping[str, Any]) -> Examined:
        """Simulate the model with hypothetical changes and changed options of the delegate."""
        target = hypothetical.changed_target(self.target)
        key = (
            hypothetical.changes,
            hypothetical.accepted_nodes,
            hypothetical.accepted_ops,
            hypothetical.ended,
            hypothetical.repaired_nodes,
            target.assume_ops_registered,
            target.release,
            frozenset(options.items()),
        )
        if key not in self._known:
            if options:
                delegate, all_options = target.delegate, {**self._given, **options}
                target = replace(target, options=parse_options(delegate.name, delegate.options, all_options, target.defaults))
            self._effort.spend(target.delegate.effort)
            change = self._changed(hypothetical, target.release)
            if len(self._known) >= self._most_known:
                del self._known[next(iter(self._known))]
            self._known[key] = Examined(simulate_changed(change, target, hypothetical, self._cache), change)
        return self._known[key]

    def _changed(self, hypothetical: HypotheticalChanges, release: Release) -> Edited:
        """Return the changed model, from the cache if possible.

        Many hypothetical changes differ from each other only in the nodes that the delegate accepts. Such changes share a
        model.
        """
        key = hypothetical.changes, release
        for known, change in self._changes:
            if known == key:
                refuse_unknown_names(self.model, hypothetical)
                return change
        change = changed(self.model, hypothetical, release)
        self._changes.append((key, change))
        return change
