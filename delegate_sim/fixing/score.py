"""Score a model on a target, in order to compare rewrites."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..delegates.base import Delegate
from ..foundation.columns import Declared
from ..graph.analysis_cache import AnalysisCache
from ..hypothetical.model_editing import NodeKey
from ..model.model import Model
from ..refusal import Refusal
from ..results.report.measures import NOT_RUNNING, TAKEN, Measures, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.number_risks import NumberRisk, number_risks
from ..results.report.tables import COST
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
    """Number of delegate kernels. Infinite if no node is delegated. 0 for a runtime of whole models, which has no partitions."""
    partitions: int
    """Number of partitions, delegated or on the CPU. 0 for a runtime of whole models."""
    nodes_left: int
    """Number of nodes that an accelerator leaves to the CPU, or that a runtime of whole models refuses.

    0 if no node is delegated, because the number then only says how many nodes the model has. 0 also for a delegate that computes
    on the CPU, because a node without multiply-adds costs about the same there.
    """
    border_bytes: int
    """Boundary bytes. 0 for a delegate that computes on the CPU, because no bytes move to another processor."""


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
    awaits_board: bool = False
    """Whether the delegate takes nodes that only the board compiles."""
    refusal: Refusal | None = field(default=None, compare=False)
    """The refusal of the whole graph."""
    refusal_text: str = field(default="", compare=False)
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
    def is_done(self) -> bool:
        """Whether the target runs the whole model in one kernel."""
        return self.takes_nodes and not self.to_change and self.measures.partitions == 1

    @property
    def score(self) -> Score:
        """The score. It can be compared with scores of other results on the same target."""
        measures = self.measures
        is_whole = self.delegate.runs_whole_models
        crosses = measures.is_delegated and not self.delegate.computes_on_cpu
        return Score(
            measures.outcome in NOT_RUNNING,
            measures.wrong_results or 0,
            measures.possibly_wrong_results or 0,
            self.total_multiply_adds - self.multiply_adds if self.total_multiply_adds else measures.fallback_nodes,
            measures.fallback_nodes > 0,
            0 if is_whole else measures.delegate_kernels if measures.is_delegated else math.inf,
            0 if is_whole else measures.partitions,
            measures.fallback_nodes if crosses or is_whole else 0,
            measures.border_bytes if crosses else 0,
        )


def standing(model: Model, target: Target, cache: AnalysisCache | None = None) -> Standing:
    """Simulate a model on a target and return the result."""
    return standing_of(simulate(model, target, cache=cache))


def standing_of(run: Run) -> Standing:
    """Return the result of a simulated model."""
    compute = compute_of(run)
    measures = measure(run)
    work = compute.delegated_multiply_adds, compute.multiply_adds
    on_cpu = _nodes(run, are_all=False)
    risks = tuple(number_risks(run))
    to_cure = _with_constants(run, risks)
    to_change = _nodes(run, are_all=True) if run.refusal is not None else on_cpu | to_cure
    return Standing(
        *(run.target, measures, *work, on_cpu, to_change),
        warnings=run.warnings,
        to_cure=to_cure,
        at_risk=risks,
        awaits_board=run.awaits_board,
        refusal=run.refusal,
        refusal_text=refusal_text(run),
    )


def _with_constants(run: Run, risks: Sequence[NumberRisk]) -> frozenset[NodeKey]:
    """Return the nodes at risk, and the nodes that widen their float16 constants."""
    keys = {NodeKey(risk.subgraph, risk.node) for risk in risks if risk.node is not None}
    graphs = [subgraph.graph for subgraph in run.subgraphs]
    read = {(key.subgraph, tensor) for key in keys for tensor in graphs[key.subgraph].nodes[key.node].inputs}
    widening = [
        NodeKey(subgraph, node.index)
        for subgraph, tensor in read
        for node in graphs[subgraph].writers.get(tensor, ())
        if graphs[subgraph].view(node).is_constant_float16_dequantize
    ]
    return frozenset([*keys, *widening])


def _nodes(run: Run, *, are_all: bool) -> frozenset[NodeKey]:
    return frozenset(
        [
            NodeKey(subgraph.graph.index, index)
            for subgraph in run.final_subgraphs
            for index in subgraph.graph.execution_plan
            if are_all or index not in subgraph.delegated
        ]
    )


def helps_visibly(now: Standing, before: Standing) -> bool:
    """Return whether ``now`` is better in a measure other than the nodes and outputs with wrong numbers."""
    one, other = (standing.score._replace(wrong=0, perhaps_wrong=0) for standing in (now, before))
    return one < other


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
