"""Advice for the CPU nodes of one run. The advice comes from a diagnosis that does not simulate each fix."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ...model.model import Model
from ...results.report.placement import on_cpu
from ...rules.kinds import PARTITION_LIMIT
from ...runtime.run import Run
from ..causes.cause import Blockers
from ..causes.change import Advice
from ..causes.finder import find_causes
from ..examiner import Examiner

if TYPE_CHECKING:
    from ...results.compare.comparison import Comparison

_NODES_ADVISED = 5000
"""Models with more nodes than this number get no advice, because their diagnosis would take seconds."""


class RunAdvice(NamedTuple):
    """The advice for a run. ``by_reason`` is the advice for single nodes. ``by_code`` is the advice for the whole graph."""

    by_reason: Mapping[tuple[NodeKey, str], tuple[Advice, ...]]
    by_code: Mapping[str, Advice]


def advised(
    model: Model,
    run: Run,
    is_alone: bool = True,
    effort: Effort | None = None,
    cache: AnalysisCache | None = None,
    diagnosed: tuple[Blockers, Examiner] | None = None,
) -> Run:
    """Return a run with the advice of a diagnosis as hints.

    All reports with hints call this function, so their advice is the same. A run is returned unchanged if it has no CPU nodes,
    if the model is large, if the runtime applies the delegate by default, or if the delegate cannot be simulated.

    If ``is_alone`` is false, the run follows other runs in a chain. The diagnosis simulates the delegate without the chain, so
    its partitions may differ from those in the chain. The hints then exclude advice about partition limits and about the whole
    graph. ``effort`` limits the simulations of all runs of a model together. ``cache`` is the cache of the simulation of ``run``.
    ``diagnosed`` has the causes and simulations of an earlier diagnosis of ``run``.
    """
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs])
    is_over = effort is not None and effort.is_over
    if not run.is_repeatable or is_over or nodes > _NODES_ADVISED or not any(True for _ in on_cpu(run)):
        return run
    advice = _advice_of(*diagnosed) if diagnosed else advise(Examiner(model, run.target, effort or Effort(model), cache))
    by_subgraph: dict[int, dict[tuple[int, str], tuple[Advice, ...]]] = {}
    for (key, code), changes in advice.by_reason.items():
        if is_alone or code != PARTITION_LIMIT.name:
            by_subgraph.setdefault(key.subgraph, {})[key.node, code] = changes
    subgraphs = [replace(subgraph, advice=by_subgraph.get(subgraph.graph.index, {})) for subgraph in run.subgraphs]
    refusal = run.refusal
    if refusal is not None and is_alone and refusal.code in advice.by_code:
        refusal = replace(refusal, hint=advice.by_code[refusal.code].text or refusal.hint)
    return replace(run, refusal=refusal, subgraphs=tuple(subgraphs))


def advised_comparison(comparison: Comparison) -> Comparison:
    """Return a comparison with the advice of a diagnosis on both sides."""
    from ...results.compare.comparison import compare  # imported here, because the advice for a single run needs no comparison

    a, b = [replace(side, run=advised(side.model, side.run)) for side in (comparison.a, comparison.b)]
    if a.run is comparison.a.run and b.run is comparison.b.run:
        return comparison
    return compare(a, b, matching=comparison.matching)


def advise(examiner: Examiner) -> RunAdvice:
    """Find the causes of a model's refusals on a target, and the changes that fix the causes."""
    return _advice_of(find_causes(examiner, names_others=False), examiner)


def _advice_of(diagnosed: Blockers, examiner: Examiner) -> RunAdvice:
    """Return the changes that fix causes. They do not name other delegates, because this would require simulating them all."""
    refusal = examiner.simulate(HypotheticalChanges()).run.refusal
    blockers = diagnosed.without_other_delegates()
    by_reason: dict[tuple[NodeKey, str], dict[str, Advice]] = {}
    for cause in blockers.causes:
        for reason in itertools.product(cause.nodes, cause.codes):
            by_reason.setdefault(reason, {}).setdefault(cause.change, cause.advice)
    of_the_whole = [cause for cause in blockers.causes if refusal is not None and refusal.code in cause.codes]
    # A cause of single nodes may have the code of the refusal of the whole graph.
    left = [(cause, examiner.simulate(blockers.without([cause])).run.refusal) for cause in of_the_whole]
    ending = [cause for cause, other in left if refusal is None or other is None or other.code != refusal.code]
    of_refusal = [cause.advice for cause in (*ending, *of_the_whole)]
    by_code = {refusal.code: of_refusal[0]} if refusal is not None and of_refusal else {}
    return RunAdvice({reason: tuple(own.values()) for reason, own in by_reason.items()}, by_code)
