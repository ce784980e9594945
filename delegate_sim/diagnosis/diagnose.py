"""Diagnose a model on a delegate: causes, their cost, and the result of fixing each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..fixing.passes.base import Pass
from ..hypothetical.hypothetical_changes import NodeKey, Supposition
from ..model.model import Model
from ..results.report.display import Shown, Table
from ..results.report.multiply_adds import multiply_adds
from ..results.report.placement import on_cpu
from ..rules.kinds import PARTITION_LIMIT
from ..runtime.interpreter import Run
from ..runtime.target import Target
from .advice.fix_passes import PassFinder
from .causes import conversion_causes as roots
from .causes.cause import Blockers, Cause, Identity
from .causes.dependent_nodes import followers_of
from .causes.finder import find_causes
from .effort import simulations_of
from .examiner import Cost, Examiner
from .ranking import TRIED_AT_LEAST, TRIED_AT_MOST, Ranking, rank

__all__ = ["Cost", "Diagnosis", "RankedCause", "diagnose"]


@dataclass(frozen=True, slots=True)
class RankedCause:
    """One cause with what it costs.

    ``multiply_adds`` are those of its nodes. ``alone`` is what would be without this cause alone, ``together`` without it and all
    that rank before it; None for causes that rank too low to be simulated. ``needs`` are other causes that must be removed too
    before removing this one brings anything; None if it brings nothing even then. ``followers`` are nodes that are on the CPU for
    no reason of their own, and go with this cause.
    """

    cause: Cause
    multiply_adds: int
    alone: Cost | None
    together: Cost | None
    needs: tuple[Identity, ...] | None = ()
    followers: tuple[NodeKey, ...] = ()


@dataclass(frozen=True, repr=False)
class Diagnosis(Shown):
    """The run as it is, its causes with the one first whose end brings most, and what would be without any of them.

    ``limited`` are nodes that the delegate accepts and that lie in partitions beyond a limit.
    """

    model: Model
    target: Target
    run: Run
    now: Cost
    total_multiply_adds: int
    findings: tuple[RankedCause, ...]
    without_all: Cost
    limited: int
    blockers: Blockers
    """The same causes with what each node has of them, for ``search``."""

    @property
    def is_dynamic(self) -> bool:
        """True if the runtime refuses the graph as a whole."""
        return roots.is_dynamic(self.run)

    def pass_for(self, finding: RankedCause) -> Pass | None:
        """Return the pass of ``fix`` that does what a cause asks for, None if there is none; passes are tried when asked for."""
        identity = finding.cause.identity
        if identity not in self._passes:
            self._passes[identity] = self._finder.pass_for(finding.cause.nodes)
        return self._passes[identity]

    @functools.cached_property
    def _finder(self) -> PassFinder:
        return PassFinder(self.model, self.target)

    @functools.cached_property
    def _passes(self) -> dict[Identity, Pass | None]:
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data (schema ``delegate-sim/diagnosis/1``)."""
        from .diagnosis_data import diagnosis_entry

        return diagnosis_entry(self)

    def _line(self) -> str:
        from .tables import diagnosis_line

        return diagnosis_line(self)

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        from .tables import diagnosis_tables

        return diagnosis_tables(self)


def diagnose(model: Model, target: Target) -> Diagnosis:
    """Apply a delegate to a model and find what keeps nodes on the CPU."""
    examiner = Examiner(model, target)
    first = examiner.simulate(Supposition(), {})
    run, now = first.run, first.cost()
    blockers = find_causes(model, examiner.simulate)
    weights = {
        NodeKey(subgraph.graph.index, index): multiply_adds(subgraph.graph.view(subgraph.graph.nodes[index]))
        for subgraph in run.subgraphs
        for index in subgraph.graph.execution_plan
    }
    own_weight = {cause.identity: sum([weights.get(key, 0) for key in cause.nodes]) for cause in blockers.causes}

    def cost_without(causes: Iterable[Cause]) -> Cost:
        return examiner.simulate(*blockers.without(causes)).cost()

    tried = simulations_of(model, TRIED_AT_LEAST, TRIED_AT_MOST)
    ranking = rank(blockers.causes, own_weight, now, cost_without, tried)
    following = followers_of(first, ranking.order, blockers, examiner.simulate, tried)
    findings = tuple([_finding(ranking, cause, own_weight, following) for cause in ranking.order])
    return Diagnosis(
        model,
        target,
        run,
        now,
        sum(weights.values()),
        findings,
        cost_without(blockers.causes),
        sum([1 for _, _, reasons in on_cpu(run) if any(reason.code == PARTITION_LIMIT.name for reason in reasons)]),
        blockers,
    )


def _finding(
    ranking: Ranking, cause: Cause, own_weight: Mapping[Identity, int], following: Mapping[Identity, tuple[NodeKey, ...]]
) -> RankedCause:
    identity = cause.identity
    return RankedCause(
        cause,
        own_weight[identity],
        ranking.alone.get(identity),
        ranking.together.get(identity),
        ranking.needs.get(identity, ()),
        following.get(identity, ()),
    )
