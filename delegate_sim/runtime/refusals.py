"""Refusals of whole models: the model cannot be loaded, or a kernel cannot be prepared."""

from __future__ import annotations

from dataclasses import replace

from ..delegates.decision import KernelFailure
from ..graph.graph import Graph, PrepareFailure
from ..model.model import Model
from ..releases.wording import NOT_INITIALIZED_LINE
from ..rules.kinds import (
    CPU_KERNEL_NOT_PREPARED,
    MODEL_NOT_LOADED,
    NODE_NOT_LOADED,
    OPERATOR_NOT_LOADED,
    OPERATOR_NOT_REGISTERED,
    TENSOR_NOT_LOADED,
    TENSOR_TYPE_NOT_LOADED,
)
from .model_loading import Loading, first_node
from .run import REFUSED, Refusal, Run


def _load_refusal(model: Model, loading: Loading) -> Refusal:
    """Return the refusal for a model that does not load. Its location is the first refused operator, tensor or node."""
    if not loading.is_known_version:
        return Refusal(MODEL_NOT_LOADED.name, loading.message, MODEL_NOT_LOADED.hint, 0, None, None)
    if not loading.refused and loading.invalid_node is not None:
        at = loading.invalid_node
        return Refusal(NODE_NOT_LOADED.name, loading.message, NODE_NOT_LOADED.hint, at.subgraph, at.node, None)
    if not loading.refused and not loading.refused_tensors:
        first = loading.invalid[0]
        return Refusal(TENSOR_NOT_LOADED.name, loading.message, TENSOR_NOT_LOADED.hint, first.subgraph, None, first.tensor)
    if not loading.refused:
        tensor = loading.refused_tensors[0].index
        kind = TENSOR_TYPE_NOT_LOADED
        return Refusal(kind.name, loading.message, kind.hint, loading.subgraph, None, tensor)
    message = loading.message
    subgraph, node = first_node(model, loading.refused[0]) or (0, None)
    if node is None:
        which = "this operator" if len(loading.refused) == 1 else "the first of these operators"
        message += f"; no node uses {which}, but the file lists it"
    return Refusal(OPERATOR_NOT_LOADED.name, message, OPERATOR_NOT_LOADED.hint, subgraph, node, None)


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


def not_prepared(graph: Graph, failure: PrepareFailure) -> Refusal:
    """Return the refusal for a CPU kernel that cannot be prepared."""
    message = f"the CPU runtime cannot prepare node {failure.node} ({graph.nodes[failure.node].op}): {failure.message}"
    kind = OPERATOR_NOT_REGISTERED if failure.unregistered else CPU_KERNEL_NOT_PREPARED
    return Refusal(kind.name, message, kind.hint, graph.index, failure.node, None)


def kernel_refusal(graph: Graph, failure: KernelFailure, message: str, *, is_at_invoke: bool = False) -> Refusal:
    """Return the refusal for a delegate kernel that cannot be created or prepared."""
    return Refusal(
        failure.code,
        message,
        failure.hint,
        graph.index,
        failure.node,
        failure.tensor,
        is_predicted=not failure.is_known,
        is_at_invoke=is_at_invoke,
        behind=failure.stage,
    )
