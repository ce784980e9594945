"""Score a model on a target, in order to compare rewrites."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..delegates.base import Delegate
from ..foundation.columns import Declared
from ..graph.analysis_cache import AnalysisCache
from ..hypothetical.model_editing import NodeKey
from ..model.model import Model
from ..results.numbers.risks import NumberRisk, number_risks
from ..results.report.measures import NOT_RUNNING, PREDICTED, TAKEN, Measures, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.run_columns import COST
from ..results.report.verdict import refusal_text
from ..runtime.interpreter import Run, simulate
from ..runtime.target import Target


class Score(NamedTuple):
    """The measures for comparing results, most important first. Lower values are better."""

    fails: bool
    """True if the application cannot run the model with the delegate."""
    wrong: int
    """Number of nodes that compute other numbers than the CPU, and of outputs that are never written."""
    perhaps_wrong: int
    """Number of further nodes and outputs with numbers that may differ."""
    work_left: int
    """Multiply-adds on the CPU, or the number of CPU nodes in a model without multiply-adds."""
    is_partial: bool
    """True if some nodes stay on the CPU. Some applications, such as LiteRT-LM on the GPU, then refuse the model."""
    kernels: float
    """Number of delegate kernels. Infinite if no node is delegated."""
    border_bytes: int
    partitions: int
    """Number of partitions, delegated or on the CPU."""


@dataclass(frozen=True, slots=True)
class Standing(Declared):
    """The result of one model on one target."""

    columns = COST

    target: Target
    measures: Measures
    multiply_adds: int
    """Multiply-adds of delegated nodes."""
    total_multiply_adds: int
    on_cpu: frozenset[NodeKey]
    """The nodes that stay on the CPU."""
    to_change: frozenset[NodeKey]
    """The nodes that passes may change: the nodes on the CPU and nodes with wrong numbers.

    These are all nodes if the model does not run or is rejected.
    """
    warnings: tuple[str, ...] = ()
    """The warnings about the run."""
    to_cure: frozenset[NodeKey] = frozenset()
    """The nodes with wrong numbers that passes may change."""
    at_risk: tuple[NumberRisk, ...] = ()
    """The nodes and outputs with numbers that are known to differ, or may differ, from the numbers on the CPU."""
    refusal: str = field(default="", compare=False)
    """The reason why the delegate is not applied or rejects the model, or ""."""

    @property
    def delegate(self) -> Delegate:
        """The delegate of the target."""
        return self.target.delegate

    @property
    def takes_nodes(self) -> bool:
        """Whether the delegate takes nodes and no later step fails."""
        return self.measures.outcome == TAKEN

    @property
    def score(self) -> Score:
        """The score. It can be compared with scores of other results on the same target."""
        measures = self.measures
        return Score(
            measures.outcome in NOT_RUNNING,
            measures.wrong_results or 0,
            measures.possibly_wrong_results or 0,
            self.total_multiply_adds - self.multiply_adds if self.total_multiply_adds else measures.fallback_nodes,
            measures.fallback_nodes > 0,
            measures.delegate_kernels if measures.is_delegated else math.inf,
            measures.border_bytes,
            measures.partitions,
        )


def standing(model: Model, target: Target, cache: AnalysisCache | None = None) -> Standing:
    """Simulate a model on a target and return the result."""
    return standing_of(simulate(model, target, cache=cache))


def standing_of(run: Run) -> Standing:
    """Return the result of a simulated model."""
    compute = compute_of(run)
    measures = measure(run)
    work = compute.delegated_multiply_adds, compute.multiply_adds
    on_cpu = _nodes(run, are_all=measures.outcome == PREDICTED)
    risks = tuple(number_risks(run))
    to_cure = frozenset(_with_constants(run, risks))
    to_change = _nodes(run, are_all=True) if run.refusal is not None else on_cpu | to_cure
    return Standing(run.target, measures, *work, on_cpu, to_change, run.warnings, to_cure, risks, refusal_text(run))


def _with_constants(run: Run, risks: Sequence[NumberRisk]) -> Iterator[NodeKey]:
    """Yield the nodes at risk, and the nodes that widen their float16 constants."""
    for risk in risks:
        if risk.node is not None:
            graph = run.subgraphs[risk.subgraph].graph
            writers = [graph.writers.get(tensor, ()) for tensor in graph.nodes[risk.node].inputs]
            widening = [node for own in writers for node in own if graph.view(node).is_constant_float16_dequantize]
            yield from [NodeKey(risk.subgraph, index) for index in (risk.node, *[node.index for node in widening])]


def _nodes(run: Run, *, are_all: bool) -> frozenset[NodeKey]:
    return frozenset(
        [
            NodeKey(subgraph.graph.index, index)
            for subgraph in run.subgraphs
            for index in subgraph.graph.execution_plan
            if are_all or index not in subgraph.delegated
        ]
    )


def is_no_worse(now: Sequence[Standing], before: Sequence[Standing]) -> bool:
    """Return whether no target has a worse result in ``now`` than in ``before``."""
    return all(one.score <= other.score for one, other in zip(now, before, strict=True))


def summed(standings: Sequence[Standing]) -> tuple[float, ...]:
    """Return the sum of each measure over all targets. The sums compare results if each is better on another target.

    ``is_partial`` is left out. A target that runs all nodes does not make up for more CPU work on another target.
    """
    names = [name for name in Score._fields if name != "is_partial"]
    return tuple([sum([getattr(standing.score, name) for standing in standings]) for name in names])


def is_better(now: Sequence[Standing], before: Sequence[Standing]) -> bool:
    """Return whether at least one target has a better result in ``now`` than in ``before``, and no target has a worse result."""
    return is_no_worse(now, before) and any(one.score < other.score for one, other in zip(now, before, strict=True))
