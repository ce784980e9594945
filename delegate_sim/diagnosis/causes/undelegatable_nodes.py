"""Find nodes that no delegate takes. The refusal's code is not used."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...graph.graph import Graph, NodeView, file_graphs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model
from ...model.precompiled import is_program
from ...releases.wording import FLEX, LISTS

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
