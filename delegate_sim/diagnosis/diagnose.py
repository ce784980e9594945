"""A model on a delegate: what keeps nodes on the CPU, what each cause costs, and what removing it would bring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..model.model import Model
from ..options import parse_options
from ..results.compute import multiply_adds
from ..results.measures import Measures, measure
from ..results.nodes import on_cpu
from ..results.shown import Shown, Table
from ..rules.kinds import DYNAMIC_TENSORS, PARTITION_LIMIT, Problem
from ..runtime.interpreter import Run
from ..runtime.suppositions import NodeKey, Supposition, simulate_if
from ..runtime.target import Target
from .causes import Blockers, Cause, find_causes

_CAUSES_SIMULATED = 8


class Cost(NamedTuple):
    """The numbers of a run. ``multiply_adds`` are those of delegated nodes: a count, not an estimate of latency."""

    measures: Measures
    multiply_adds: int


@dataclass(frozen=True)
class RankedCause:
    """One cause with what it costs.

    ``multiply_adds`` are those of its nodes. ``alone`` is the result without this cause alone, ``together`` without it and all
    that rank before it; None for causes that rank too low to be simulated.
    """

    cause: Cause
    multiply_adds: int
    alone: Cost | None
    together: Cost | None


@dataclass(frozen=True, repr=False)
class Diagnosis(Shown):
    """The run as it is, its causes with the costliest first, and the result without any of them.

    ``limited`` is the number of nodes that the delegate accepts but that are in partitions beyond a limit.
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
    """The same causes, with those of each node, for ``predict`` and ``search``."""

    @property
    def is_dynamic(self) -> bool:
        """Whether the runtime refuses the whole graph."""
        return self.run.refusal is not None and self.run.refusal.code == DYNAMIC_TENSORS.name

    def _line(self) -> str:
        from .tables import diagnosis_line

        return diagnosis_line(self)

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        from .tables import diagnosis_tables

        return diagnosis_tables(self)


def diagnose(model: Model, target: Target) -> Diagnosis:
    """Apply a delegate to a model and find what keeps nodes on the CPU."""
    examiner = Examiner(model, target)
    run = examiner.simulate(Supposition(), {})
    blockers = find_causes(run, examiner.simulate)
    weights = {
        NodeKey(subgraph.graph.index, index): multiply_adds(subgraph.graph.view(subgraph.graph.nodes[index]))
        for subgraph in run.subgraphs
        for index in subgraph.graph.execution_plan
    }
    own_weight = {cause.identity: sum([weights.get(key, 0) for key in cause.nodes]) for cause in blockers.causes}
    first = sorted(blockers.causes, key=lambda cause: (-own_weight[cause.identity], -len(cause.nodes)))
    alone = {cause.identity: examiner.cost(blockers, [cause], weights) for cause in first[:_CAUSES_SIMULATED]}
    now = Cost(measure(run), _delegated_weight(run, weights))
    ranked = sorted(first, key=lambda cause: _rank(cause, alone.get(cause.identity), now, own_weight[cause.identity], weights))
    findings = []
    for number, cause in enumerate(ranked):
        so_far = ranked[: number + 1]
        together = examiner.cost(blockers, so_far, weights) if 0 < number < _CAUSES_SIMULATED else None
        own = alone.get(cause.identity)
        findings.append(RankedCause(cause, own_weight[cause.identity], own, own if number == 0 else together))
    everything = findings[-1].together if findings else now
    return Diagnosis(
        model,
        target,
        run,
        now,
        sum(weights.values()),
        tuple(findings),
        everything or examiner.cost(blockers, ranked, weights),
        sum([1 for _, _, reasons in on_cpu(run) if any(reason.code == PARTITION_LIMIT.name for reason in reasons)]),
        blockers,
    )


def predict(diagnosis: Diagnosis, causes: Iterable[Cause]) -> Measures:
    """Return the result without some causes."""
    return measure(Examiner(diagnosis.model, diagnosis.target).run_without(diagnosis.blockers, causes))


def _rank(cause: Cause, alone: Cost | None, now: Cost, weight: int, weights: Mapping[NodeKey, int]) -> tuple[Any, ...]:
    """Rank what stops everything first, then by work kept on the CPU, by partitions caused, by nodes."""
    total = sum(weights.values()) or 1
    saved = 0
    if alone is not None and now.measures.is_delegated:
        saved = now.measures.partitions - alone.measures.partitions
    is_first = cause.identity.problem is not Problem.DYNAMIC_SHAPE
    return is_first, -round(100 * weight / total), -saved, -len(cause.nodes), cause.name


class Examiner:
    """Simulates one model on one target under suppositions, none of them twice."""

    def __init__(self, model: Model, target: Target) -> None:
        self.model = model
        self.target = target
        self._known: dict[tuple[Any, ...], Run] = {}

    def simulate(self, supposition: Supposition, options: Mapping[str, Any]) -> Run:
        """Apply the delegate under a supposition about nodes or shapes, with some options changed."""
        delegate, own, release, defaults = self.target
        key = (
            supposition.accepted_nodes,
            frozenset(supposition.node_versions.items()),
            supposition.fixed_shapes,
            frozenset(options.items()),
        )
        if key not in self._known:
            changed = parse_options(delegate.name, delegate.options, {**own, **options}, defaults) if options else own
            self._known[key] = simulate_if(self.model, delegate, changed, release, defaults, supposition)
        return self._known[key]

    def run_without(self, blockers: Blockers, causes: Iterable[Cause]) -> Run:
        """Apply the delegate as if some causes were removed."""
        return self.simulate(*blockers.without(causes))

    def cost(self, blockers: Blockers, causes: Iterable[Cause], weights: Mapping[NodeKey, int]) -> Cost:
        """Return the result without some causes."""
        run = self.run_without(blockers, causes)
        return Cost(measure(run), _delegated_weight(run, weights))


def _delegated_weight(run: Run, weights: Mapping[NodeKey, int]) -> int:
    return sum([weights[NodeKey(subgraph.graph.index, index)] for subgraph in run.subgraphs for index in subgraph.delegated])
