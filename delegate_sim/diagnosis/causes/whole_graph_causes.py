"""Find causes that keep the whole graph on the CPU, and the hypothetical changes that fix such causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ...graph.graph import file_graphs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model
from ...refusal import Refusal
from ...releases.catalogue import Release
from ...rules.kinds import (
    CPU_KERNEL_NOT_PREPARED,
    DYNAMIC_TENSORS,
    MODEL_NOT_LOADED,
    NODE_NOT_LOADED,
    OPERATOR_NOT_LOADED,
    OPERATOR_NOT_REGISTERED,
    TENSOR_NOT_LOADED,
    TENSOR_TYPE_NOT_LOADED,
    Problem,
)
from ...rules.rule import Reason
from ...runtime.interpreter import Run
from ...runtime.model_loading import custom_operators, first_loading_after, load_on
from ..advice.change_kinds import OF_RUNTIME
from ..examiner import Examined
from .cause import Identity
from .change import Remedy
from .undelegatable_nodes import CONTROL_FLOW, special_subject

_NEEDED: Mapping[str, str] = MappingProxyType(
    {
        DYNAMIC_TENSORS.name: "no dynamic-sized tensor",
        OPERATOR_NOT_LOADED.name: "operators that the release can load",
        TENSOR_TYPE_NOT_LOADED.name: "tensor types that the release can load",
        MODEL_NOT_LOADED.name: "a model of version 3 of the schema",
        NODE_NOT_LOADED.name: "nodes with the parameters that their operators require",
        TENSOR_NOT_LOADED.name: "tensors with a consistent description in the model file",
        CPU_KERNEL_NOT_PREPARED.name: "a node that its CPU kernel can prepare",
        OPERATOR_NOT_REGISTERED.name: "custom operators that the application registers",
    }
)


@dataclass(frozen=True, slots=True)
class WholeCause:
    """A cause that all nodes share, and the hypothetical changes that fix the cause."""

    identity: Identity
    remedy: Remedy


def whole_refusal(run: Run) -> Reason | None:
    """Return the reason why the runtime does not apply the delegate, or None if the runtime applies the delegate."""
    refusal = run.refusal
    if refusal is None:
        return None
    needed = _NEEDED.get(refusal.code, "a kernel that can be created")
    return Reason(refusal.code, OF_RUNTIME, refusal.message, refusal.message, needed, refusal.hint)


def loading_cause(model: Model, run: Run) -> WholeCause | None:
    """Return the cause if the release cannot load the model, or None if it can.

    The fix is the first later release that loads the model. If no later release loads the model, the fix is to register the
    operators in the application.
    """
    if run.is_loaded:
        return None
    loading = load_on(model, run.release)
    if not loading.is_known_version:
        return WholeCause(Identity(Problem.MODEL, (MODEL_NOT_LOADED.name,)), Remedy())
    if loading.refused:
        subject: tuple[str, ...] = (loading.refused[0].op, str(loading.refused[0].version))
    elif loading.refused_types:
        subject = loading.refused_types[:1]
    else:
        kind = TENSOR_NOT_LOADED if loading.invalid_node is None else NODE_NOT_LOADED
        return WholeCause(Identity(Problem.MODEL, (kind.name,)), Remedy())
    releases = first_loading_after(model, run.release)
    remedy = Remedy(release=releases[0]) if releases else Remedy(assume_ops_registered=not loading.refused_tensors)
    return WholeCause(Identity(Problem.RELEASE, subject), remedy)


def registration_cause(model: Model, run: Run) -> WholeCause | None:
    """Return the cause if custom operators are not registered, or None if all are registered.

    If all unregistered operators are of one kind that no delegate takes, the cause names the kind. An example of a kind is
    TensorFlow's own operators.
    """
    if run.refusal is None or run.refusal.code != OPERATOR_NOT_REGISTERED.name:
        return None
    missing = custom_operators(model, run.target).unregistered
    nodes = [graph.view(node) for graph in file_graphs(model) for node in graph.nodes if node.is_custom and node.op in missing]
    subjects = {special_subject(node) for node in nodes}
    special = next(iter(subjects)) if len(subjects) == 1 else None
    if special is not None:
        # Programs for another accelerator are not delegated even if their operator is registered.
        remedy = Remedy() if special[0] == "compiled" else Remedy(accepts=True, assume_ops_registered=True)
        return WholeCause(Identity(Problem.OPERATOR, special), remedy)
    subject = OPERATOR_NOT_REGISTERED.name, *sorted(missing)
    return WholeCause(Identity(Problem.MODEL, subject), Remedy(assume_ops_registered=True))


def releases_that_load(model: Model, release: Release) -> str:
    """Return the later releases that load a model, as text. The text is empty if no known later release loads the model."""
    return " or ".join([f"{other} or later" for other in first_loading_after(model, release)])


def preparation_cause(examined: Examined) -> WholeCause | None:
    """Return the cause if a CPU kernel cannot prepare a node of the model file. Otherwise, return None."""
    run = examined.run
    if run.is_prepared or run.refusal is None:
        return None
    key = _blamed(examined, run.refusal)
    if key is None:
        return None
    op = run.subgraphs[run.refusal.subgraph].graph.nodes[run.refusal.node or 0].op
    return WholeCause(Identity(Problem.MODEL, (CPU_KERNEL_NOT_PREPARED.name, op)), Remedy(repaired_nodes=frozenset({key})))


def _blamed(examined: Examined, refusal: Refusal) -> NodeKey | None:
    if refusal.node is None or refusal.node >= len(examined.change.origins[refusal.subgraph]):
        return None
    return examined.change.origin(NodeKey(refusal.subgraph, refusal.node))


def nodes_behind(examined: Examined) -> frozenset[NodeKey]:
    """Return the nodes that may depend on a tensor of unknown size. The graph's refusal names the tensor.

    The result includes nodes that run subgraphs, and all nodes of other subgraphs. Sizes in a subgraph depend on the call.
    """
    refusal = examined.run.refusal
    if refusal is None or refusal.tensor is None:
        return frozenset()
    graph = examined.run.subgraphs[refusal.subgraph].graph
    reached = {refusal.tensor}
    nodes = set()
    for index in graph.execution_plan:
        node = graph.nodes[index]
        if node.op in CONTROL_FLOW or not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
            nodes.add(examined.change.origin(NodeKey(graph.index, index)))
    nodes.update([key for key in examined.change.now if key.subgraph != graph.index])
    return frozenset(key for key in nodes if key is not None)
