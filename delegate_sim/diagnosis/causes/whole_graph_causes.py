"""Find causes that keep the whole graph on the CPU, and nodes that no delegate takes. Each function looks at one run."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...graph.graph import Graph, NodeView, file_graphs
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, combined
from ...model.model import Model
from ...model.precompiled import is_program
from ...refusal import Refusal, Stage
from ...releases.wording import FLEX, LISTS
from ...rules.kinds import (
    CPU_KERNEL_NOT_PREPARED,
    CPU_KERNEL_QUANTIZATION,
    CPU_KERNEL_TYPE,
    CPU_KERNEL_UNQUANTIZED,
    CPU_KERNEL_VALUE,
    DYNAMIC_TENSORS,
    FAILS_IN_INVOKE_KINDS,
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
from ..examiner import Examined, RefusedNode
from .cause import Identity
from .change import OF_RUNTIME, Remedy
from .evidence import CauseSearch, Evidence, FoundEvidence, SearchState, cases_of, view_of

_NEEDED: Mapping[str, str] = {
    DYNAMIC_TENSORS.name: "no dynamic-sized tensor",
    OPERATOR_NOT_LOADED.name: "operators that the release can load",
    TENSOR_TYPE_NOT_LOADED.name: "tensor types that the release can load",
    MODEL_NOT_LOADED.name: "a model of version 3 of the schema",
    NODE_NOT_LOADED.name: "nodes with the parameters that their operators require",
    TENSOR_NOT_LOADED.name: "tensors with a consistent description in the model file",
    CPU_KERNEL_NOT_PREPARED.name: "a node that its CPU kernel can prepare",
    CPU_KERNEL_TYPE.name: "types that its CPU kernel computes",
    CPU_KERNEL_VALUE.name: "constants that its CPU kernel computes",
    CPU_KERNEL_UNQUANTIZED.name: "operands with a scale",
    CPU_KERNEL_QUANTIZATION.name: "the same scale and zero point in both tensors",
    OPERATOR_NOT_REGISTERED.name: "custom operators that the application registers",
}

_FAILS_IN_INVOKE = frozenset([kind.name for kind in FAILS_IN_INVOKE_KINDS])
_TEXT = Identity(Problem.OPERATOR, ("text",))


def is_dynamic(run: Run) -> bool:
    """Return whether the runtime refuses the whole graph because of a tensor of unknown size."""
    return run.refusal is not None and run.refusal.code == DYNAMIC_TENSORS.name


def is_no_longer_dynamic(now: Examined, then: Examined) -> bool:
    """Return whether a change removes the refusal of a graph because of a tensor of unknown size.

    ``now`` is the result without the change, and ``then`` is the result with the change. The refusal also counts as removed if
    ``then`` names another tensor than ``now``.
    """
    old, new = now.run.refusal, then.run.refusal
    if old is None or new is None or not is_dynamic(then.run):
        return is_dynamic(now.run)
    return is_dynamic(now.run) and (old.subgraph, old.tensor) != (new.subgraph, new.tensor)


def reason_of(refusal: Refusal, examined: Examined) -> Reason:
    """Return a refusal by the runtime, a delegate kernel or a stage behind the delegate as a reason for a node.

    The reason has the indices of nodes in the file.
    """
    refusal = examined.change.in_file(refusal)
    below = refusal.below
    if below is None:
        needed = _NEEDED.get(refusal.code, "a kernel that can be created")
        return Reason(refusal.code, OF_RUNTIME, refusal.message, refusal.message, needed, refusal.hint)
    actual, needed = f"{below.operand}: {below.found}", f"{below.operand}: {below.needed}"
    return Reason(refusal.code, OF_RUNTIME, refusal.message, actual, needed, refusal.hint)


def refused_by_runtime(run: Examined) -> tuple[RefusedNode, ...]:
    """Return all CPU nodes with the refusal of the whole graph. Without such a refusal, the nodes have their own reasons."""
    refusal = run.run.refusal
    return cases_of(run.on_cpu, None if refusal is None else reason_of(refusal, run))


def _whole(
    state: SearchState,
    identity: Identity,
    remedy: Remedy,
    assumed: HypotheticalChanges | None = None,
    guessed: frozenset[NodeKey] = frozenset(),
) -> FoundEvidence:
    return (Evidence(identity, refused_by_runtime(state.run), remedy, assumed, at_fault=frozenset(), guessed=guessed),)


def loading(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the cause that keeps the release from loading the model. This cause hides all other causes.

    The fix is the first later release that loads the model. If no later release loads the model, the fix is to register the
    operators in the application.
    """
    run = state.run.run
    if run.is_loaded:
        return ()
    loads = load_on(search.model, run.release)
    if not loads.is_known_version:
        return _whole(state, Identity(Problem.MODEL, (MODEL_NOT_LOADED.name,)), Remedy())
    if loads.refused:
        subject: tuple[str, ...] = (loads.refused[0].op, str(loads.refused[0].version))
    elif loads.refused_types:
        subject = loads.refused_types[:1]
    else:
        kind = TENSOR_NOT_LOADED if loads.invalid_node is None else NODE_NOT_LOADED
        return _whole(state, Identity(Problem.MODEL, (kind.name,)), Remedy())
    releases = first_loading_after(search.model, run.release)
    remedy = Remedy(release=releases[0]) if releases else Remedy(assume_ops_registered=not loads.refused_tensors)
    return _whole(state, Identity(Problem.RELEASE, subject), remedy)


def registration(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the cause that custom operators are not registered.

    If all unregistered operators are of one kind that no delegate takes, the cause names the kind. An example of a kind is
    TensorFlow's own operators.
    """
    run = state.run.run
    if run.refusal is None or run.refusal.code != OPERATOR_NOT_REGISTERED.name:
        return ()
    missing = custom_operators(search.model, run.target).unregistered
    graphs = file_graphs(search.model)
    nodes = [graph.view(node) for graph in graphs for node in graph.nodes if node.is_custom and node.op in missing]
    subjects = {special_subject(node) for node in nodes}
    special = next(iter(subjects)) if len(subjects) == 1 else None
    remedy = Remedy(assume_ops_registered=True)
    if special is None:
        return _whole(state, Identity(Problem.MODEL, (OPERATOR_NOT_REGISTERED.name, *sorted(missing))), remedy)
    if special[0] == "compiled":
        # Programs for another accelerator are not delegated even if their operator is registered.
        return _whole(state, Identity(Problem.OPERATOR, special), Remedy(), assumed=remedy)
    return (Evidence(Identity(Problem.OPERATOR, special), remedy=replace(remedy, accepts=True)),)


def text(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the nodes that work on text.

    The results of text nodes have unknown sizes, and a tensor of unknown size may prevent all delegation.
    """
    nodes = text_nodes(search.model)
    if not nodes or state.changes.removed_nodes:
        return ()
    remedy = Remedy(accepts=True, removed_nodes=nodes)
    without = search.simulate(combined(state.changes, remedy))
    own = [refused for refused in state.run.on_cpu if refused.key in nodes]
    if is_no_longer_dynamic(state.run, without):
        return (Evidence(_TEXT, refused_by_runtime(state.run), remedy, at_fault=frozenset([refused.key for refused in own])),)
    return (Evidence(_TEXT, cases_of(own), remedy),)


def preparation(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find a node of the model file that a CPU kernel cannot prepare or compute. Nodes of the same operator share a cause."""
    key, refusal = _unprepared(state.run), state.run.run.refusal
    if key is None or refusal is None:
        return ()
    op = file_graphs(search.model)[key.subgraph].nodes[key.node].op
    code = refusal.code if refusal.code in _FAILS_IN_INVOKE else CPU_KERNEL_NOT_PREPARED.name
    return _whole(state, Identity(Problem.MODEL, (code, op)), Remedy(repaired_nodes=frozenset({key})))


def preparation_again(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find a node that a CPU kernel cannot prepare, and that a tensor of unknown size hid."""
    return preparation(search, state) if state.changes.fixed_shapes else ()


def _unprepared(examined: Examined) -> NodeKey | None:
    refusal = examined.run.refusal
    if refusal is None or refusal.node is None or (examined.run.is_prepared and refusal.code not in _FAILS_IN_INVOKE):
        return None
    return examined.change.origin(NodeKey(refusal.subgraph, refusal.node))


def guesses(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find a node that a CPU kernel cannot prepare because of a guessed size.

    The fix of an unknown size must guess all sizes that depend on the unknown size. The remedy therefore also assumes that CPU
    kernels accept the guessed sizes.
    """
    guessing = next((own for own in state.evidence if own.guessed), None)
    key = None if guessing is None else _unprepared(state.run)
    if guessing is None or key not in guessing.guessed:
        return ()
    return (Evidence(guessing.identity, remedy=Remedy(repaired_nodes=frozenset({key}))),)


def dynamic(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the cause of a tensor of unknown size that fixed sizes of inputs do not change."""
    run, refusal = state.run, state.run.run.refusal
    if refusal is None or not is_dynamic(run.run) or state.changes.fixed_shapes:
        return ()
    origin = None if refusal.node is None else run.change.origin(NodeKey(refusal.subgraph, refusal.node))
    subject = None if origin is None else special_subject(view_of(origin, run))
    if origin is not None and subject is not None:
        # No delegate takes the operator that makes the size unknown, so its cause is the operator.
        remedy = Remedy(accepts=subject[0] != "compiled", fixed_shapes=True, repaired_nodes=frozenset({origin}))
        identity = Identity(Problem.OPERATOR, subject)
    else:
        remedy = Remedy(fixed_shapes=True, sized_by=origin)
        identity = Identity(Problem.DYNAMIC_SHAPE, () if origin is None else (f"{origin.subgraph}:{origin.node}",))
    return _whole(state, identity, remedy, guessed=nodes_behind(run))


def stages(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the cause of a refusal of the whole model by LiteRT or a plugin."""
    run, refusal = state.run.run, state.run.run.refusal
    if refusal is None or not (refusal.stage.is_of_plugin or (refusal.stage is Stage.LOADING and run.is_loaded)):
        return ()
    options: Mapping[str, Any] = next(iter(search.delegate.remedies(refusal.code, state.run.run.options)), {})
    subject = tuple([f"{name}={value}" for name, value in options.items()]) or (refusal.code,)
    remedy = Remedy(options=options) if options else Remedy(ended=frozenset({refusal.code}))
    cases = [case for case in cases_of(state.run.on_cpu) if case.reason.code == refusal.code]
    return (Evidence(Identity(search.problem_of(refusal.code), subject), tuple(cases), remedy),)


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
    nodes.update(
        [
            NodeKey(subgraph, index)
            for subgraph, origins in enumerate(examined.change.origins)
            for index in origins
            if subgraph != graph.index
        ]
    )
    return frozenset([key for key in nodes if key is not None and key.node >= 0])


_TABLES = frozenset({"HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"})
"""Operators of lookup tables. The tables map text to numbers, or numbers to text."""

CONTROL_FLOW: Mapping[str, str] = {"CALL": "a call", "IF": "a branch", "STABLEHLO_WHILE": "a loop", "WHILE": "a loop"}
"""Operators that run subgraphs, each with a description."""

CHOOSING: Mapping[str, str] = {
    "WHERE": (
        "the number of elements that WHERE finds depends on their values, so no conversion can determine the number: "
        "compute with all elements multiplied by a mask, or find the elements in the application"
    ),
    "UNIQUE": (
        "the number of values that UNIQUE finds depends on the data, so no conversion can determine the number: find "
        "the values in the application, or end the model before UNIQUE"
    ),
}
"""Operators with a result whose size depends on values, each with advice."""

SPLIT_TAIL = "--split-tail"
_SPLIT = f"or, if it is at the end of the model, move it to a second model file with delegate-sim fix {SPLIT_TAIL}"
_SUPPRESSION = f"export the detector without non-maximum suppression, and do this step in the application; {_SPLIT}"
IN_APPLICATION: Mapping[str, str] = {
    "NON_MAX_SUPPRESSION_V4": _SUPPRESSION,
    "NON_MAX_SUPPRESSION_V5": _SUPPRESSION,
    "TFLite_Detection_PostProcess": (
        "export the detector without this operator (with boxes and scores as outputs), and decode and select boxes in the "
        f"application; {_SPLIT}"
    ),
}
"""Operators that the application can replace, each with instructions. Such an operator is usually at the end of a model."""


def special_subject(node: NodeView) -> tuple[str, ...] | None:
    """If no delegate takes this node, return the subject of the cause. Otherwise, return None."""
    if is_program(node.node):
        return ("compiled", node.op)
    if works_on_text(node):
        return ("text",)
    is_loop = node.op in CONTROL_FLOW and not node.node.is_custom
    is_list = is_loop and any(tensor.type == "VARIANT" for tensor in (*node.inputs, *node.outputs))
    if is_list or (node.node.is_custom and node.op.startswith(LISTS)):
        return ("lists",)
    if node.node.is_custom and node.op.startswith(FLEX):
        return ("flex",)
    if is_loop:
        return ("control-flow", node.op)
    return ("application", node.op) if node.op in IN_APPLICATION else None


def works_on_text(node: NodeView) -> bool:
    """Return whether a node reads or writes text, uses a lookup table, or fills a lookup table in a subgraph."""
    if "STRING" in node.graph.types and any(tensor.type == "STRING" for tensor in (*node.inputs, *node.outputs)):
        return True
    if node.node.is_custom:
        return False
    return node.op in _TABLES or (node.op == "CALL_ONCE" and _fills_a_table(node))


def _fills_a_table(node: NodeView) -> bool:
    graphs, called = file_graphs(node.graph.model), node.options.init_subgraph_index
    if not 0 < called < len(graphs):
        return False
    nodes = graphs[called].nodes
    return bool(nodes) and all(inner.op != "CALL_ONCE" and works_on_text(graphs[called].view(inner)) for inner in nodes)


def text_nodes(model: Model) -> frozenset[NodeKey]:
    """Return all nodes of a model that work on text."""
    of_graphs = [graph.results.get("text nodes", (), functools.partial(_text_nodes_in, graph)) for graph in file_graphs(model)]
    return frozenset[NodeKey]().union(*of_graphs)


def _text_nodes_in(graph: Graph) -> frozenset[NodeKey]:
    return frozenset([NodeKey(graph.index, node.index) for node in graph.nodes if works_on_text(graph.view(node))])
