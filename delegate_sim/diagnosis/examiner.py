"""Simulate one model on one target under hypothetical changes."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

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
from ..results.report.measures import Measures, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.placement import on_cpu
from ..results.report.tables import COST
from ..rules.rule import Reason
from ..runtime.interpreter import Run
from ..runtime.target import Target

_KEPT_AT_LEAST, _KEPT_AT_MOST = 4, 500
"""Smallest and largest number of cached runs. Large models get fewer cached runs, because a run holds all nodes."""


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

    @property
    def reason(self) -> Reason:
        """The first reason. The refusals of a cause have one reason each."""
        return self.reasons[0]


@dataclass(frozen=True, eq=False)
class Examined:
    """A simulated run of a changed model. ``change`` maps nodes of the changed model to nodes of the original model."""

    run: Run
    change: Edited

    @functools.cached_property
    def on_cpu(self) -> tuple[RefusedNode, ...]:
        """The CPU nodes of the run that also exist in the original model, in execution order.

        The keys are indices in the original model.
        """
        nodes = []
        for subgraph, index, reasons in on_cpu(self.run):
            graph = subgraph.graph
            origins = self.change.origins[graph.index]
            if index < len(origins) and origins[index] >= 0:
                nodes.append(RefusedNode(NodeKey(graph.index, origins[index]), graph.nodes[index].op, reasons))
        return tuple(nodes)

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
        self.effort = effort
        self._cache = cache or effort.cache
        self._known: dict[Hashable, Examined] = {}
        self._most_known = max(effort.simulations(_KEPT_AT_LEAST, _KEPT_AT_MOST), _KEPT_AT_LEAST)

    def simulate(self, hypothetical: HypotheticalChanges) -> Examined:
        """Simulate the model with hypothetical changes.

        Many hypothetical changes differ only in the nodes that the delegate accepts. Such changes share a model.
        """
        key = hypothetical.key
        if key not in self._known:
            refuse_unknown_names(self.model, hypothetical)
            self.effort.spend(self.target.effort)
            release = hypothetical.release or self.target.release
            of_model = self.model, hypothetical.changes, release
            change = self._cache.get("changed model", of_model, lambda: changed(self.model, hypothetical, release, self._cache))
            if len(self._known) >= self._most_known:
                del self._known[next(iter(self._known))]
            self._known[key] = Examined(simulate_changed(change, self.target, hypothetical, self._cache), change)
        return self._known[key]
