"""Match the rows of an operator table to the nodes of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...graph.graph import Graph
from ..parse.log_contents import ReconcileError
from ..parse.profiles.operator_tables import Row

OTHER_MODEL = "is the log from this model?"


def matched_nodes(graph: Graph, rows: Sequence[Row]) -> frozenset[int]:
    """Return the nodes that match the rows of a table. Raises ReconcileError for a row without a matching node.

    A row is matched by its node index if possible, otherwise by operator and outputs. If a row without a node index has no
    match yet, it gets the next unmatched node with the same operator.
    """
    matched: set[int] = set()
    plan = set(graph.execution_plan)
    by_outputs = _by_outputs(graph)
    rest: list[Row] = []
    for row in rows:
        if row.node is not None and row.node in plan and graph.nodes[row.node].op == row.op and row.node not in matched:
            matched.add(row.node)
            continue
        candidates = by_outputs.get((row.op, without_commas(row.outputs)), [])
        while candidates and candidates[0] in matched:
            candidates.pop(0)
        if candidates:
            matched.add(candidates.pop(0))
        else:
            rest.append(row)
    following = _by_operator(graph) if rest else {}
    for row in rest:
        node = next((candidate for candidate in following.get(row.op, iter(())) if candidate not in matched), None)
        if row.node is not None or node is None:
            place = "" if row.node is None else f" as node {row.node}"
            raise ReconcileError(
                f"the log lists {row.op}{place} of subgraph {graph.index}, but the model has no such node; {OTHER_MODEL}"
            )
        matched.add(node)
    return frozenset(matched)


def _by_outputs(graph: Graph) -> dict[tuple[str, str], list[int]]:
    nodes: dict[tuple[str, str], list[int]] = {}
    for index in graph.execution_plan:
        node = graph.nodes[index]
        names = ", ".join([graph.tensors[tensor].name if tensor >= 0 else "Unknown" for tensor in node.outputs])
        nodes.setdefault((node.op, without_commas(names)), []).append(index)
    return nodes


def _by_operator(graph: Graph) -> dict[str, Iterator[int]]:
    nodes: dict[str, list[int]] = {}
    for index in graph.execution_plan:
        nodes.setdefault(graph.nodes[index].op, []).append(index)
    return {op: iter(indices) for op, indices in nodes.items()}


def without_commas(names: str) -> str:
    """Return a list of tensor names without commas, because some tables have blanks instead of commas."""
    return " ".join(names.replace(",", " ").split())
