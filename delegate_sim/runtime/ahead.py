"""Compiler plugins: they see the file before the runtime loads it, and compile what they select.

Source: ``PartitionModel`` (``litert/compiler/plugin/compiler_plugin.cc``); ``litert/runtime/compiled_model.cc``.
"""

from __future__ import annotations

import dataclasses

from ..delegates.base import Delegate, ModelFailure, OptionValues
from ..graph.graph import Graph, file_graph
from ..model.model import Model, Subgraph
from ..releases.catalogue import Release
from .attribution import attributed_decision, attributed_subsets
from .run import Refusal, Run, SubgraphRun


def run_plugin(
    model: Model, delegate: Delegate, options: OptionValues, release: Release, accepted: dict[int, frozenset[int]]
) -> Run:
    """Have a plugin select nodes of a model; ``accepted`` are those of each subgraph that count as selected."""
    graphs = tuple([_graph(model, subgraph, accepted) for subgraph in model.subgraphs])
    found = delegate.decide_model(graphs, options, release)
    runs: list[SubgraphRun] = []
    for graph, decision, taken in zip(graphs, found.decisions, found.taken or [frozenset()] * len(graphs), strict=True):
        if decision is None:
            runs.append(SubgraphRun(graph))
            continue
        shown = attributed_decision(graph, decision)
        if found.failure is not None or not decision.nodes:
            runs.append(SubgraphRun(graph, shown, taken=taken))
            continue
        subsets = decision.grouped()
        runs.append(SubgraphRun(graph, shown, attributed_subsets(graph, decision, subsets), subsets))
    is_compiled = any(run.delegated for run in runs)
    outcome = "refused" if found.failure is not None else "delegated" if is_compiled else "none"
    refusal = None if found.failure is None else _refusal(found.failure)
    warnings = (*delegate.release_notes(release), *found.warnings)
    return Run(delegate, options, release, outcome, refusal, found.log_lines, warnings, tuple(runs))


def _graph(model: Model, subgraph: Subgraph, accepted: dict[int, frozenset[int]]) -> Graph:
    """Return a subgraph with all nodes of the file, those included that the runtime would not add."""
    graph = file_graph(model, subgraph)
    if len(graph.nodes) != len(subgraph.nodes):
        graph = dataclasses.replace(graph, nodes=subgraph.nodes, execution_plan=tuple(range(len(subgraph.nodes))))
    return dataclasses.replace(graph, assumed=accepted.get(subgraph.index, frozenset()))


def _refusal(failure: ModelFailure) -> Refusal:
    return Refusal(
        failure.code, failure.message, failure.hint, failure.subgraph, failure.node, failure.tensor, stage=failure.stage
    )
