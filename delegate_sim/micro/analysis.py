"""Analyze a model for TensorFlow Lite Micro."""

from __future__ import annotations

from ..model.model import Model
from .arena import plan_arena
from .graph import byte_size, count_external_tensors
from .preparation import MicroNode, Preparation, Status, is_known_type, prepare_model, unsized_tensors
from .report import MicroReport, Outcome
from .resolver import operators_of
from .target import MicroTarget

_DEFAULT = MicroTarget()


def analyze(model: Model, target: MicroTarget = _DEFAULT) -> MicroReport:
    """Return the report of TensorFlow Lite Micro on a model."""
    preparation = prepare_model(model, target)
    outcome, problem, failing = _outcome(model, preparation)
    missing = [node.operator for node in preparation.nodes if node.status is Status.MISSING]
    return MicroReport(
        target=target,
        outcome=outcome,
        problem=problem,
        nodes=preparation.nodes,
        missing_operators=tuple(dict.fromkeys(missing)),
        failing_node=None if failing is None else (failing.subgraph, failing.index),
        operators=operators_of([node for subgraph in model.subgraphs for node in subgraph.nodes]),
        arena=plan_arena(model, preparation) if outcome is Outcome.ALLOCATED else None,
        external_tensors=count_external_tensors(model),
    )


def _outcome(model: Model, preparation: Preparation) -> tuple[Outcome, str, MicroNode | None]:
    """Return the outcome, its reason and the failing node.

    The checks run in the runtime's order: tensor types, operators, Prepare of each node, and the memory plan.
    """
    if not model.subgraphs:
        return Outcome.FILE, "the file has no subgraph", None
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            if not is_known_type(tensor.type):
                return (
                    Outcome.FILE,
                    f"tensor {tensor.index} of subgraph {subgraph.index} has the unknown type {tensor.type}",
                    None,
                )
    for status, outcome in ((Status.MISSING, Outcome.MISSING_OPERATOR), (Status.PREPARE, Outcome.PREPARE_FAILED)):
        for node in preparation.nodes:
            if node.status is status:
                if node.is_dynamic:
                    words = f"{node.operator} {node.index} of subgraph {node.subgraph} has a result without a fixed size"
                    return Outcome.FILE, words, node
                return outcome, "", node
    problem = _unplannable(preparation)
    return (Outcome.FILE, problem, None) if problem else (Outcome.ALLOCATED, "", None)


def _unplannable(preparation: Preparation) -> str:
    for subgraph, index, kind in unsized_tensors(preparation.graphs):
        return f"tensor {index} of subgraph {subgraph} has type {kind}, for which no memory can be planned"
    for graph in preparation.graphs:
        for node in graph.nodes:
            for index in node.intermediates:
                if index >= 0 and byte_size(graph.tensor(index)):
                    return f"intermediate tensor {index} of {node.op} {node.index} is not empty"
    return ""
