"""Match each row of a table in running order to its node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...graph.graph import Graph
from ..parse.log_contents import ReconcileError
from ..parse.operator_tables import Row

OTHER_MODEL = "was the log taken with this model?"


def matched_nodes(graph: Graph, rows: Sequence[Row]) -> frozenset[int]:
    """Find the node of each row: by its index, else by its outputs, else the next node with the row's operator.

    Raises ReconcileError for a row that no node is left for.
    """
    taken: set[int] = set()
    plan = set(graph.execution_plan)
    by_outputs = _by_outputs(graph)
    rest: list[Row] = []
    for row in rows:
        if row.node is not None and row.node in plan and graph.nodes[row.node].op == row.op and row.node not in taken:
            taken.add(row.node)
            continue
        candidates = by_outputs.get((row.op, _spaced(row.outputs)), [])
        while candidates and candidates[0] in taken:
            candidates.pop(0)
        if candidates:
            taken.add(candidates.pop(0))
        else:
            rest.append(row)
    following = _by_operator(graph) if rest else {}
    for row in rest:
        found = next((index for index in following.get(row.op, iter(())) if index not in taken), None)
        if row.node is not None or found is None:
            place = "" if row.node is None else f" as node {row.node}"
            raise ReconcileError(
                f"the log lists {row.op}{place} of subgraph {graph.index}, which the model does not have; {OTHER_MODEL}"
            )
        taken.add(found)
    return frozenset(taken)


def _by_outputs(graph: Graph) -> dict[tuple[str, str], list[int]]:
    """Return the nodes by operator and by the names of the outputs, in running order."""
    found: dict[tuple[str, str], list[int]] = {}
    for index in graph.execution_plan:
        node = graph.nodes[index]
        names = ", ".join([graph.tensors[tensor].name if tensor >= 0 else "Unknown" for tensor in node.outputs])
        found.setdefault((node.op, _spaced(names)), []).append(index)
    return found


def _by_operator(graph: Graph) -> dict[str, Iterator[int]]:
    """Return the nodes of each operator in running order."""
    found: dict[str, list[int]] = {}
    for index in graph.execution_plan:
        found.setdefault(graph.nodes[index].op, []).append(index)
    return {op: iter(indices) for op, indices in found.items()}


def _spaced(names: str) -> str:
    return " ".join(names.replace(",", " ").split())
