"""Bounds on the time that fixes can save, for ``diagnose``, ``whatif``, ``compare`` and ``fix``."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from ..diagnosis.causes.cause import Cause, Identity
from ..diagnosis.diagnose import diagnose
from ..diagnosis.diagnosis import Diagnosis
from ..diagnosis.examiner import Examined, Examiner
from ..diagnosis.ranking import RankedCause
from ..fixing.search import FixPlan
from ..foundation.columns import INTEGER, LIST, NUMBER, OBJECT, Column, Declared
from ..graph.effort import Effort
from ..hypothetical.hypothetical_changes import NodeKey
from ..model.model import Model
from ..results.compare.compared_runs import simulated_side
from ..results.compare.comparison import Comparison, compare
from ..results.report.display import TimeRow
from ..results.report.placement import CPU, left_nodes
from ..runtime.interpreter import Run
from ..runtime.target import Target
from .bounds import KernelNodes, TimeBounds, bounds
from .measured import CpuTime, Timing, cpu_time

_MOST_SIMULATED = 12


class _Times(Declared):
    timings: tuple[Timing, ...]

    def rows(self) -> Iterator[TimeRow]:
        for timing in self.timings:
            yield from timing.rows()


class _CauseTime(NamedTuple):
    name: str
    time: CpuTime
    bounds: TimeBounds | None


_CAUSE = (
    *(Column("name"), Column("cpu_ms", NUMBER, unit="ms", source="time.ms", digits=6)),
    *(Column("nodes_without_time", INTEGER, source="time.unknown"), Column("bounds", OBJECT)),
)


class FixTimes(_Times):
    """Bounds on the time that fixing the causes of a diagnosis can save, computed when they are needed."""

    columns = (
        Column("profiles", LIST, source="timings"),
        Column("causes", LIST, source=lambda own: map(own._cause_time, own.diagnosis.findings), parts=_CAUSE),
        Column("all_fixed", OBJECT, source=lambda own: own.of_all()),
    )

    def __init__(self, diagnosis: Diagnosis, timings: Sequence[Timing]) -> None:
        self.diagnosis = diagnosis
        self.timings = tuple(timings)
        self._examiner = Examiner(diagnosis.model, diagnosis.target, diagnosis.effort)

    def of_cause(self, finding: RankedCause) -> CpuTime:
        """Return the CPU time of the nodes of a cause."""
        return cpu_time(self.timings, finding.cause.nodes)

    def of(self, finding: RankedCause) -> TimeBounds | None:
        """Return the bounds of fixing a cause and what it needs, or None if this does not help, or is not simulated."""
        if finding.needs is None or finding not in self.diagnosis.findings[:_MOST_SIMULATED]:
            return None
        by_identity: Mapping[Identity, Cause] = {other.cause.identity: other.cause for other in self.diagnosis.findings}
        needed = [by_identity[identity] for identity in finding.needs if identity in by_identity]
        return self._bounds([finding.cause, *needed])

    def _cause_time(self, finding: RankedCause) -> _CauseTime:
        return _CauseTime(finding.cause.name, self.of_cause(finding), self.of(finding))

    def of_all(self) -> TimeBounds:
        """Return the bounds of fixing all causes."""
        return self._bounds(self.diagnosis.blockers.causes)

    def _bounds(self, causes: Iterable[Cause]) -> TimeBounds:
        run = self.diagnosis.run
        after = self._examiner.simulate(self.diagnosis.blockers.without(causes))
        staying = {node.key for node in after.on_cpu}
        moved = [
            key
            for key in [NodeKey(subgraph.graph.index, node) for subgraph in run.subgraphs for node in left_nodes(subgraph)]
            if key not in staying
        ]
        graphs = [subgraph.graph for subgraph in run.subgraphs]
        return bounds(self.timings, run.delegate.name, graphs, moved, _kernels(run), _origin_kernels(after))


def comparison_bounds(comparison: Comparison, timings: Sequence[Timing]) -> TimeBounds:
    """Return the bounds of a change from the timed side A to side B. Nodes that only A has are treated as moved."""
    run = comparison.a.run
    gone = (*comparison.to_delegate, *comparison.only_in_a)
    moved = [NodeKey(node.subgraph, node.a.node) for node in gone if node.a is not None and node.a.place == CPU]
    old_of = comparison.matching.old_of
    after = [
        [NodeKey(key.subgraph, old_of[key.subgraph][key.node]) for key in kernel if key.node in old_of[key.subgraph]]
        for kernel in _kernels(comparison.b.run)
        if all(key.subgraph < len(old_of) for key in kernel)
    ]
    graphs = [subgraph.graph for subgraph in run.subgraphs]
    return bounds(timings, run.delegate.name, graphs, moved, _kernels(run), after)


@dataclass(frozen=True)
class ChangeTimes(_Times):
    """The timings of side A of a comparison, and bounds on the time that the change to side B can save."""

    columns: ClassVar[Sequence[Column]] = (Column("profiles", LIST, source="timings"), Column("bounds", OBJECT))

    comparison: Comparison
    timings: tuple[Timing, ...]

    @functools.cached_property
    def bounds(self) -> TimeBounds:
        """The bounds of the change."""
        return comparison_bounds(self.comparison, self.timings)

    @property
    def run(self) -> Run:
        """The run of side A."""
        return self.comparison.a.run


@dataclass(frozen=True)
class PlanTimes(ChangeTimes):
    """The timings of the unchanged model, and bounds on the time that a fix can save on one target."""

    columns = (Column("delegate", source="run.delegate.name"), *ChangeTimes.columns)


def timed_diagnosis(
    model: Model, target: Target, timings: Sequence[Timing], effort: Effort | None = None
) -> tuple[Diagnosis, FixTimes | None]:
    """Diagnose a model. If there are timings, causes are ranked by measured time, and the diagnosis contains the times."""
    if not timings:
        return diagnose(model, target, effort), None
    diagnosis = diagnose(model, target, effort, lambda nodes: cpu_time(timings, nodes).ms)
    times = FixTimes(diagnosis, timings)
    return replace(diagnosis, times=times), times


def timed_comparison(comparison: Comparison, timings: Sequence[Timing]) -> Comparison:
    """Return a comparison with the times of side A. Without timings, return the comparison unchanged."""
    return replace(comparison, times=ChangeTimes(comparison, tuple(timings))) if timings else comparison


def plan_times(plan: FixPlan, timings: Mapping[str, Sequence[Timing]]) -> tuple[PlanTimes, ...]:
    """Return the times of each target of a fix. ``timings`` has the timings of the unchanged model, keyed by delegate."""
    times = []
    for target in plan.targets if plan.split is None else ():
        if own := timings.get(target.delegate.name):
            sides = [simulated_side(model, target) for model in (plan.model, plan.rewritten.model)]
            times.append(PlanTimes(compare(*sides), tuple(own)))
    return tuple(times)


def _kernels(run: Run) -> KernelNodes:
    return [
        [NodeKey(subgraph.graph.index, node) for node in subset.nodes]
        for subgraph in run.subgraphs
        for subset in subgraph.subsets
        if subset.is_delegated
    ]


def _origin_kernels(examined: Examined) -> KernelNodes:
    return [
        [origin for key in kernel if (origin := examined.change.origin(key)) is not None] for kernel in _kernels(examined.run)
    ]
