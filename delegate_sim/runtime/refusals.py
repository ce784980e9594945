"""Refusals of whole models: the model cannot be loaded, or a kernel cannot be prepared."""

from __future__ import annotations

from dataclasses import replace

from ..graph.graph import Graph
from ..model.model import Model, Node
from ..refusal import Refusal, node_place
from ..releases.wording import NOT_INITIALIZED_LINE
from ..rules.kinds import MODEL_NOT_LOADED, OPERATOR_NOT_LOADED, STUB_NOT_DELEGATED, TENSOR_TYPE_NOT_LOADED
from .model_loading import Loading, first_node
from .run import REFUSED, Run


def _load_refusal(model: Model, loading: Loading) -> Refusal:
    if not loading.is_known_version:
        return MODEL_NOT_LOADED.refusal(loading.message)
    if not loading.refused and loading.invalid_node is not None:
        return replace(loading.invalid_node, template=loading.message, values={})
    if not loading.refused and not loading.refused_tensors:
        return replace(loading.invalid[0], template=loading.message)
    if not loading.refused:
        tensor = loading.refused_tensors[0].index
        return TENSOR_TYPE_NOT_LOADED.refusal(loading.message, subgraph=loading.subgraph, tensor=tensor)
    message = loading.message
    subgraph, node = first_node(model, loading.refused[0]) or (0, None)
    if node is None:
        which = "this operator" if len(loading.refused) == 1 else "the first of these operators"
        message += f"; no node uses {which}, but the file lists it"
    return OPERATOR_NOT_LOADED.refusal(message, subgraph=subgraph, node=node)


def not_loaded(model: Model, run: Run, loading: Loading) -> Run:
    """Return a copy of a run with the refusal that the model does not load. The copy keeps the verdicts on nodes."""
    if run.delegate.is_plugin:
        return replace(run, outcome=REFUSED, refusal=_load_refusal(model, loading))
    return replace(
        run,
        outcome=REFUSED,
        refusal=_load_refusal(model, loading),
        log_lines=(*loading.lines, NOT_INITIALIZED_LINE) if run.target.defaults == "benchmark" else loading.lines,
        subgraphs=tuple([subgraph.without_kernels() for subgraph in run.subgraphs]),
    )


def not_prepared(graph: Graph, failure: Refusal) -> Refusal:
    """Return the refusal of a run for a CPU kernel that cannot be prepared."""
    assert failure.node is not None
    template = "the CPU runtime cannot prepare node {node} ({op}): "
    return failure.within(node_place(failure.node, graph.nodes[failure.node].op, template))


def stub_not_delegated(node: Node) -> Refusal:
    """Return the refusal of a run in which no accelerator runs a custom operator that has only a stub.

    Source: ``StubOpEval`` (``litert/runtime/compiled_model.cc``).
    """
    message = "no accelerator runs {place}, and the runtime has only a stub for this custom operator"
    return STUB_NOT_DELEGATED.refusal(message, node=node.index, values={"place": node_place(node.index, node.op)})
