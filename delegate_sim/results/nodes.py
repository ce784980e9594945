"""The nodes that stay on the CPU, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..results.findings import Finding, Location
from ..rules.rule import Reason
from ..runtime.interpreter import Run, SubgraphRun
from .report import node_reasons

_NOT_ASKED = "not-delegated"


def on_cpu(run: Run) -> Iterator[tuple[SubgraphRun, int, tuple[Reason, ...]]]:
    """Return each node that is not delegated, in execution order, with its reasons."""
    for subgraph in run.subgraphs:
        for index in subgraph.graph.execution_plan:
            if index not in subgraph.delegated:
                yield subgraph, index, node_reasons(subgraph, index, run.refusal)


def code_of(reasons: Sequence[Reason]) -> str:
    """Return the code that represents a node's reasons: the first."""
    return reasons[0].code if reasons else _NOT_ASKED


def node_location(subgraph: SubgraphRun, index: int | None) -> Location:
    """Return the location of a node, or of the whole subgraph if the index is None."""
    graph = subgraph.graph
    if index is None:
        return Location(graph.index, graph.name)
    node = graph.nodes[index]
    output = next((tensor for tensor in node.outputs if tensor >= 0), None)
    name = "" if output is None else graph.tensors[output].name
    return Location(graph.index, graph.name, index, node.op, name)


def node_finding(
    code: str, level: str, what: str, subgraph: SubgraphRun, index: int, reasons: Sequence[Reason], more: str = ""
) -> Finding:
    """Return the finding that a node does, or did, something for its reasons."""
    place = node_location(subgraph, index)
    names = [f"node {index}", *([f"of subgraph {place.subgraph}"] if place.subgraph else [])]
    node = f"{place.op} ({' '.join(names)}{f', {place.name}' if place.name else ''})"
    why = "; ".join([reason.message for reason in reasons]) or "no delegate is asked about it"
    hint = "; ".join(dict.fromkeys([reason.hint for reason in reasons if reason.hint]))
    return Finding(code, level, f"{what}: {why}{more}", hint, place, node)
