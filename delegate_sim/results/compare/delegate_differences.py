"""Compare several runs of one model. The results are delegated nodes per operator, and nodes that only some runs delegate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...model.model import Node
from ...rules.rule import Reason
from ...runtime.interpreter import Run
from ..report.placement import node_reasons


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator, its number of nodes, and the number of delegated nodes in each run."""

    op: str
    nodes: int
    delegated: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A node that some runs delegate and other runs do not.

    ``reasons`` has one entry for each run. The entry is None if the run delegates the node. Otherwise, the entry has the
    reasons why not.
    """

    subgraph: int
    node: Node
    reasons: tuple[tuple[Reason, ...] | None, ...]


def operator_rows(runs: Sequence[Run]) -> list[OperatorRow]:
    """Count the nodes of each operator. The most frequent operator comes first."""
    totals: Counter[str] = Counter()
    counts: list[Counter[str]] = [Counter() for _ in runs]
    for _, node, delegated in _nodes(runs):
        totals[node.op] += 1
        for count, is_delegated in zip(counts, delegated, strict=True):
            count[node.op] += is_delegated
    return [OperatorRow(op, nodes, tuple(count[op] for count in counts)) for op, nodes in totals.most_common()]


def disagreements(runs: Sequence[Run]) -> list[Disagreement]:
    """Return the nodes that only some runs delegate, in execution order."""
    differences = []
    final = [run.final_subgraphs for run in runs]
    for subgraph, node, delegated in _nodes(runs):
        if any(delegated) and not all(delegated):
            reasons = tuple(
                None if is_taken else node_reasons(subgraphs[subgraph], node.index, run.refusal)
                for run, subgraphs, is_taken in zip(runs, final, delegated, strict=True)
            )
            differences.append(Disagreement(subgraph, node, reasons))
    return differences


def _nodes(runs: Sequence[Run]) -> Iterator[tuple[int, Node, tuple[bool, ...]]]:
    final = [run.final_subgraphs for run in runs]
    for subgraph in runs[0].subgraphs:
        number = subgraph.graph.index
        delegated = [subgraphs[number].delegated for subgraphs in final]
        for index in subgraph.graph.execution_plan:
            yield number, subgraph.graph.nodes[index], tuple(index in nodes for nodes in delegated)
