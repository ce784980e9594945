"""The bounds of the fixes that ``diagnose``, ``whatif``, ``compare`` and ``fix`` show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..diagnosis.causes.cause import Cause, Identity
from ..diagnosis.diagnosis import Diagnosis, RankedCause
from ..diagnosis.examiner import Examined, Examiner
from ..hypothetical.hypothetical_changes import NodeKey
from ..results.compare.comparison import Comparison, match_sides
from ..results.report.placement import CPU, left_nodes
from ..runtime.interpreter import Run
from .bounds import KernelNodes, TimeBounds, bounds
from .measured import Timing, cpu_time

_MOST_SIMULATED = 12
"""Number of causes whose fix is simulated."""


class FixTimes:
    """The bounds of fixing the causes of a diagnosis. The bounds of a fix are computed when they are needed."""

    def __init__(self, diagnosis: Diagnosis, timings: Sequence[Timing]) -> None:
        self.diagnosis = diagnosis
        self.timings = tuple(timings)
        self._examiner = Examiner(diagnosis.model, diagnosis.target, diagnosis.effort)

    def of(self, finding: RankedCause) -> TimeBounds | None:
        """Return the bounds of fixing a cause and the causes that it needs; None if the fix does not help or is not simulated."""
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
        after = self._examiner.simulate(*self.diagnosis.blockers.without(causes))
        staying = {node.key for node in after.on_cpu()}
        moved = [key for key in _on_cpu(run) if key not in staying]
        graphs = [subgraph.graph for subgraph in run.subgraphs]
        return bounds(self.timings, run.delegate.name, graphs, moved, _kernels(run), _origin_kernels(after))

    def to_dict(self) -> dict[str, Any]:
        """Return the timings, and the time and bounds of each cause, as plain data."""
        causes = []
        for finding in self.diagnosis.findings:
            time, own = cpu_time(self.timings, finding.cause.nodes), self.of(finding)
            entry = {"name": finding.cause.name, "cpu_ms": round(time.ms, 6), "nodes_without_time": time.unknown}
            causes.append({**entry, "bounds": None if own is None else own.to_dict()})
        return {
            "profiles": [timing.to_dict() for timing in self.timings],
            "causes": causes,
            "all_fixed": self.of_all().to_dict(),
        }


def comparison_bounds(comparison: Comparison, timings: Sequence[Timing]) -> TimeBounds:
    """Return the bounds of a change from side A to side B. The timings are of side A.

    Nodes that only A has count as moved, because B does not run them.
    """
    run = comparison.a.run
    gone = (*comparison.to_delegate, *comparison.only_in_a)
    moved = [NodeKey(node.subgraph, node.a.node) for node in gone if node.a is not None and node.a.place == CPU]
    old_of = match_sides(comparison.a, comparison.b).old_of
    after = [
        [NodeKey(key.subgraph, old_of[key.subgraph][key.node]) for key in kernel if key.node in old_of[key.subgraph]]
        for kernel in _kernels(comparison.b.run)
        if all(key.subgraph < len(old_of) for key in kernel)
    ]
    graphs = [subgraph.graph for subgraph in run.subgraphs]
    return bounds(timings, run.delegate.name, graphs, moved, _kernels(run), after)


def change_entry(comparison: Comparison, timings: Sequence[Timing]) -> dict[str, Any]:
    """Return the timings of side A, and the bounds of the change to side B, as plain data; empty if there are no timings."""
    if not timings:
        return {}
    entry = comparison_bounds(comparison, timings).to_dict()
    return {"time": {"profiles": [timing.to_dict() for timing in timings], "bounds": entry}}


def _on_cpu(run: Run) -> list[NodeKey]:
    return [NodeKey(subgraph.graph.index, node) for subgraph in run.subgraphs for node in left_nodes(subgraph)]


def _kernels(run: Run) -> KernelNodes:
    return [
        [NodeKey(subgraph.graph.index, node) for node in subset.nodes]
        for subgraph in run.subgraphs
        for subset in subgraph.subsets
        if subset.is_delegated
    ]


def _origin_kernels(examined: Examined) -> KernelNodes:
    """Return the kernels of a changed model as groups of nodes of the unchanged model."""
    return [
        [origin for key in kernel if (origin := examined.change.origin(key)) is not None] for kernel in _kernels(examined.run)
    ]
