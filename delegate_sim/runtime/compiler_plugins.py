"""Compiler plugins. A plugin selects and compiles nodes of the model file before the runtime loads the file.

Source: ``PartitionModel`` (``litert/compiler/plugin/compiler_plugin.cc``); ``litert/runtime/compiled_model.cc``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from ..delegates.base import CompilerPlugin
from ..delegates.registry import DISPATCH_KERNEL
from ..graph.calls import DELEGATE
from ..graph.graph import Graph, file_graphs
from ..graph.partition import PartitionError, partition
from ..graph.reachability import no_weights
from ..model.model import Model
from ..model.precompiled import precompiled
from ..releases.catalogue import Release
from ..releases.wording import replacing_line
from .model_loading import assumed_registration, custom_operators, open_sizes
from .run import ChangedPlan, Run, SubgraphRun, attributed_decision, attributed_subsets, plan_after
from .target import Target


def run_plugin(model: Model, target: Target, accepted: Mapping[int, frozenset[int]], ended: frozenset[str]) -> Run:
    """Let a compiler plugin select nodes of a model, and return the run.

    ``accepted`` has the nodes that are assumed to be selected, by subgraph. ``ended`` has the codes of failures that are
    assumed not to occur.
    """
    plugin = target.delegate
    assert isinstance(plugin, CompilerPlugin)
    graphs = whole_graphs(model, accepted)
    selection = plugin.decide_model(graphs, target.options, target.release, ended)
    runs: list[SubgraphRun] = []
    for graph, decision, taken in zip(graphs, selection.decisions, selection.taken or [frozenset()] * len(graphs), strict=True):
        if decision is None:
            runs.append(SubgraphRun(graph))
            continue
        shown = attributed_decision(graph, decision)
        if selection.failure is not None or not decision.nodes:
            runs.append(SubgraphRun(graph, shown, taken=taken))
            continue
        subsets = decision.grouped()
        runs.append(SubgraphRun(graph, shown, attributed_subsets(graph, decision, subsets), subsets))
    is_compiled = any(run.delegated for run in runs)
    outcome = "refused" if selection.failure is not None else "delegated" if is_compiled else "none"
    of_model = [*filter(None, [no_weights(model), open_sizes(model)]), *precompiled(model).words]
    left = {run.graph.nodes[index].op for run in runs for index in run.graph.execution_plan if index not in run.delegated}
    assumed = [assumed_registration(op) for op in custom_operators(model, target).assumed if op in left]
    warnings = (*map(str, target.delegate.release_notes(target.release)), *of_model, *selection.warnings, *assumed)
    return Run(target, outcome, selection.failure, selection.log_lines, warnings, tuple(runs), removed=selection.removed)


class Dispatched(NamedTuple):
    """The new plan of a subgraph after the dispatch delegate was applied, and the runtime's log line or ""."""

    plan: ChangedPlan
    line: str = ""


def dispatched(run: SubgraphRun, kernel_name: str, release: Release, given_tensors: int, number: int) -> Dispatched:
    """Replace the compiled partitions of a subgraph with kernels of the dispatch delegate.

    One kernel may replace several consecutive partitions. ``number`` is the index of the subgraph in the compiled model.
    """
    assert run.decision is not None
    if not run.plan:
        inlined = run.decision.graph
        return Dispatched(ChangedPlan(inlined.nodes, inlined.execution_plan, inlined.tensors[given_tensors:], inlined.outputs))
    nodes, plan, added, outputs = plan_after(run.decision.graph, run.plan, kernel_name, given_tensors)
    graph = replace(
        run.graph, nodes=nodes, execution_plan=plan, tensors=run.graph.tensors[:given_tensors] + added, outputs=outputs
    )
    calls = [index for index in plan if nodes[index].builtin_code == DELEGATE]
    try:
        subsets = partition(graph, calls)
    except PartitionError:  # the nodes form a cycle, so the runtime replaces no node
        return Dispatched(ChangedPlan(nodes, plan, added, outputs))
    line = replacing_line(
        release,
        replaced=len(calls),
        total=len(plan),
        kernel=DISPATCH_KERNEL,
        partitions=len(subsets),
        subgraph=number,
        name=run.graph.name,
    )
    return Dispatched(plan_after(graph, subsets, DISPATCH_KERNEL, given_tensors), line)


def whole_graphs(model: Model, accepted: Mapping[int, frozenset[int]]) -> tuple[Graph, ...]:
    """Return the subgraphs with all nodes of the model file, even with nodes that the runtime does not add to the graph.

    ``accepted`` maps each subgraph to the nodes that are assumed to be selected.
    """
    graphs = file_graphs(model)
    if not accepted and all(len(graph.nodes) == len(model.subgraphs[graph.index].nodes) for graph in graphs):
        return graphs
    result = []
    for graph, subgraph in zip(graphs, model.subgraphs, strict=True):
        assumed = accepted.get(graph.index, frozenset())
        plan = tuple(range(len(subgraph.nodes)))
        result.append(replace(graph, nodes=subgraph.nodes, execution_plan=plan, assumed=assumed))
    return tuple(result)
