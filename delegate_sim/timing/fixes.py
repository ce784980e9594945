"""Bounds on the time that fixes can save, for ``diagnose``, ``whatif``, ``compare`` and ``fix``."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import ClassVar

from ..diagnosis.causes.cause import Cause, Identity
from ..diagnosis.diagnose import diagnose
from ..diagnosis.diagnosis import Diagnosis
from ..diagnosis.examiner import Examiner
from ..diagnosis.ranking import RankedCause
from ..fixing.search import FixPlan
from ..foundation.columns import INTEGER, LIST, NUMBER, OBJECT, Column, Declared
from ..graph.effort import Effort
from ..graph.graph import Graph
from ..hypothetical.hypothetical_changes import NodeKey
from ..model.model import Model
from ..results.compare.comparison import Comparison, compare, simulated_side
from ..results.report.display import TimeRow
from ..results.report.multiply_adds import multiply_adds
from ..results.report.placement import CPU, left_nodes
from ..runtime.interpreter import Run
from ..runtime.target import Target
from .measured import NODE, CpuTime, Timing, cpu_time, kernel_times

KernelNodes = Sequence[Collection[NodeKey]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated saving. It comes from the CPU time of nodes, and the delegate's rates for the operators of these nodes."""

    low_ms: float
    high_ms: float
    nodes: int
    without_rate: tuple[str, ...]
    """Operators of moved nodes without a measured rate. The estimate leaves these operators out."""


@dataclass(frozen=True, slots=True)
class TimeBounds(Declared):
    """Bounds on the time that one fix can save. Only a measurement can show that it costs none, so none is a lower bound."""

    columns = (
        Column("at_most_ms", NUMBER, source=lambda own: own.at_most_ms if own.is_whole else None, digits=6),
        Column("moved_nodes", INTEGER, source="nodes"),
        Column("moved_ms", NUMBER, source="moved.ms", digits=6),
        Column("moved_nodes_without_time", INTEGER, source="moved.unknown"),
        *(Column("merged_kernels", INTEGER, source="gone_kernels"), Column("merged_ms", NUMBER, source="gone_ms", digits=6)),
        *(Column("whole_ms", NUMBER, digits=6), Column("at_least_ms", NUMBER, source=lambda _: None)),
        Column("remaining_ms", NUMBER, source=lambda own: own.rest_ms if own.is_whole else None, digits=6),
        *(Column("estimate", OBJECT), Column("no_estimate")),
    )

    moved: CpuTime
    """The CPU time of the nodes that move to the delegate."""
    nodes: int
    gone_kernels: int
    """The number of kernels that disappear because they are merged into other kernels."""
    gone_ms: float | None
    """The time of the merged kernels without the fastest of each that they become. None if a kernel was not measured."""
    total_ms: float
    inference_ms: float | None
    """The measured time of an inference of the whole model. None if the profile does not have this time."""
    kernels: int
    stays_on_cpu: bool
    """Whether any nodes of the profile stay on the CPU after the fix."""
    estimate: Estimate | None
    no_estimate: str

    @property
    def parts_ms(self) -> float:
        """The time of the removed parts: the moved nodes and the merged kernels."""
        return self.moved.ms + (self.gone_ms or 0.0)

    @property
    def whole_ms(self) -> float:
        """The most that a fix can save: the measured inference, or the sum of all parts, which may take longer one by one."""
        return self.total_ms if self.inference_ms is None else min(self.inference_ms, self.total_ms)

    @property
    def at_most_ms(self) -> float:
        """The largest possible saving of the measured parts."""
        return min(self.parts_ms, self.whole_ms)

    @property
    def is_limited(self) -> bool:
        """True if the removed parts take longer than the whole model. The bound is then the time of the whole model."""
        return self.parts_ms > self.whole_ms

    @property
    def is_whole(self) -> bool:
        """True if every part that the fix can save was measured."""
        return self.moved.is_known and (not self.gone_kernels or self.gone_ms is not None)

    @property
    def rest_ms(self) -> float:
        """The remaining time of the whole model if the moved nodes took no time on the delegate."""
        return self.whole_ms - self.at_most_ms


def bounds(
    timings: Sequence[Timing],
    delegate: str,
    graphs: Sequence[Graph],
    moved: Collection[NodeKey],
    before: KernelNodes,
    after: KernelNodes,
) -> TimeBounds:
    """Return bounds on the saving of a change that moves the nodes in ``moved`` off the CPU.

    Kernels are nodes of the unchanged model. A profile with the delegate is preferred.
    """
    ordered = sorted(timings, key=lambda timing: delegate not in timing.delegates)
    has_kernels = bool(ordered) and delegate in ordered[0].delegates
    kernels = [frozenset(kernel) for kernel in before]
    groups = [[kernel for kernel in kernels if kernel and kernel <= set(new)] for new in after]
    merged = [group for group in groups if len(group) > 1]
    times = dict(kernel_times(ordered[:1], delegate))
    is_timed = has_kernels and all(kernel in times for group in merged for kernel in group)
    gone = set(moved)
    estimate, reason = _estimate(ordered, delegate, graphs, moved)
    return TimeBounds(
        moved=cpu_time(ordered, moved),
        nodes=len(moved),
        gone_kernels=sum([len(group) - 1 for group in merged]),
        gone_ms=sum([sum(sorted(map(times.__getitem__, group))[1:]) for group in merged]) if is_timed else None,
        total_ms=ordered[0].total_ms if ordered else 0.0,
        inference_ms=ordered[0].times.inference_ms if ordered else None,
        kernels=ordered[0].kernel_count if has_kernels else 0,
        stays_on_cpu=any(part.kind == NODE and not gone.issuperset(part.nodes) for own in ordered[:1] for part in own.parts),
        estimate=estimate,
        no_estimate=reason,
    )


def _estimate(
    timings: Sequence[Timing], delegate: str, graphs: Sequence[Graph], moved: Collection[NodeKey]
) -> tuple[Estimate | None, str]:
    on_delegate = [timing for timing in timings if delegate in timing.delegates]
    on_cpu = [timing for timing in timings if delegate not in timing.delegates]
    if not on_delegate or not on_cpu:
        return None, f"an estimate needs a second profile of the same device, {'with' if on_cpu else 'without'} the delegate"
    rates = _rates(on_delegate, delegate, graphs)
    counts = {key: multiply_adds(graphs[key.subgraph].view(graphs[key.subgraph].nodes[key.node])) for key in moved}
    ops = {key: graphs[key.subgraph].nodes[key.node].op for key in moved}
    rated = [key for key in moved if ops[key] in rates and counts[key]]
    cpu = cpu_time([*on_delegate, *on_cpu], rated)
    missing = tuple(sorted({ops[key] for key in moved} - {ops[key] for key in rated}))
    if not rated or not cpu.is_known:
        if not missing:
            return None, "the CPU time of these nodes is not known"
        return None, f"the delegate's time per multiply-add is not known for {', '.join(missing)}"
    fast, slow = (sum([counts[key] * end(rates[ops[key]]) for key in rated]) / 1e6 for end in (min, max))
    return Estimate(round(cpu.ms - slow, 6), round(cpu.ms - fast, 6), len(rated), missing), ""


def _rates(timings: Sequence[Timing], delegate: str, graphs: Sequence[Graph]) -> Mapping[str, Sequence[float]]:
    """Return the nanoseconds of a multiply-add of each operator, in kernels and inner operators with no other operator's."""
    samples: dict[str, list[float]] = {}
    measured = list(kernel_times(timings, delegate))
    measured += [(frozenset([inner.node]), inner.ms) for timing in timings for inner in timing.inner if inner.node is not None]
    for nodes, ms in measured:
        sums: Counter[str] = Counter()
        for key in nodes:
            graph = graphs[key.subgraph]
            sums[graph.nodes[key.node].op] += multiply_adds(graph.view(graph.nodes[key.node])) or 0
        sums = +sums  # without operators that have no multiply-adds
        if len(sums) == 1:
            ((op, count),) = sums.items()
            samples.setdefault(op, []).append(ms * 1e6 / count)
    return samples


_MOST_SIMULATED = 12


class _Times(Declared):
    timings: tuple[Timing, ...]

    def rows(self) -> Iterator[TimeRow]:
        for timing in self.timings:
            yield from timing.rows()


_CAUSE = (
    *(Column("name", source=itemgetter(0)), Column("cpu_ms", NUMBER, unit="ms", source=lambda own: own[1].ms, digits=6)),
    Column("nodes_without_time", INTEGER, source=lambda own: own[1].unknown),
    Column("bounds", OBJECT, source=itemgetter(2)),
)


class FixTimes(_Times):
    """Bounds on the time that fixing the causes of a diagnosis can save, computed when they are needed."""

    columns = (
        Column("profiles", LIST, source="timings"),
        Column(
            "causes",
            LIST,
            source=lambda own: [(cause.cause.name, own.of_cause(cause), own.of(cause)) for cause in own.diagnosis.findings],
            parts=_CAUSE,
        ),
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

    def of_all(self) -> TimeBounds:
        """Return the bounds of fixing all causes."""
        return self._bounds(self.diagnosis.blockers.causes)

    def _bounds(self, causes: Iterable[Cause]) -> TimeBounds:
        run = self.diagnosis.run
        after = self._examiner.simulate(self.diagnosis.blockers.without(causes))
        staying = {node.key for node in after.on_cpu}
        left = [NodeKey(subgraph.graph.index, node) for subgraph in run.subgraphs for node in left_nodes(subgraph)]
        moved = [key for key in left if key not in staying]
        graphs = [subgraph.graph for subgraph in run.subgraphs]
        origins = [list(map(after.change.origin, kernel)) for kernel in _kernels(after.run)]
        kernels = [[origin for origin in kernel if origin is not None] for kernel in origins]
        return bounds(self.timings, run.delegate.name, graphs, moved, _kernels(run), kernels)


@dataclass(frozen=True)
class ChangeTimes(_Times):
    """The timings of side A of a comparison, and bounds on the time that the change to side B can save."""

    columns: ClassVar[Sequence[Column]] = (Column("profiles", LIST, source="timings"), Column("bounds", OBJECT))

    comparison: Comparison
    timings: tuple[Timing, ...]

    @functools.cached_property
    def bounds(self) -> TimeBounds:
        """The bounds of the change. Nodes that only side A has are treated as moved."""
        comparison, run, old_of = self.comparison, self.run, self.comparison.matching.old_of
        gone = (*comparison.to_delegate, *comparison.only_in_a)
        moved = [NodeKey(node.subgraph, node.a.node) for node in gone if node.a is not None and node.a.place == CPU]
        after = [
            [NodeKey(key.subgraph, old_of[key.subgraph][key.node]) for key in kernel if key.node in old_of[key.subgraph]]
            for kernel in _kernels(comparison.b.run)
            if all(key.subgraph < len(old_of) for key in kernel)
        ]
        graphs = [subgraph.graph for subgraph in run.subgraphs]
        return bounds(self.timings, run.delegate.name, graphs, moved, _kernels(run), after)

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
