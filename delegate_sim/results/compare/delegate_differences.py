"""Compare how several delegates handle one model: which operators each takes, and where they disagree."""

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
    """One operator: how many nodes there are, and how many of them each run delegates."""

    op: str
    nodes: int
    delegated: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A node that some runs delegate and others do not. ``reasons`` holds, for each run, why it does not, or None."""

    subgraph: int
    node: Node
    reasons: tuple[tuple[Reason, ...] | None, ...]


def operator_rows(runs: Sequence[Run]) -> list[OperatorRow]:
    """Count by operator, most frequent first."""
    totals: Counter[str] = Counter()
    delegated: list[Counter[str]] = [Counter() for _ in runs]
    for _, node, taken in _nodes(runs):
        totals[node.op] += 1
        for count, is_taken in zip(delegated, taken, strict=True):
            count[node.op] += is_taken
    return [OperatorRow(op, nodes, tuple(count[op] for count in delegated)) for op, nodes in totals.most_common()]


def disagreements(runs: Sequence[Run]) -> list[Disagreement]:
    """List the nodes that the runs treat differently, in order."""
    found = []
    for subgraph, node, taken in _nodes(runs):
        if any(taken) and not all(taken):
            reasons = tuple(
                None if is_taken else node_reasons(run.subgraphs[subgraph], node.index, run.refusal)
                for run, is_taken in zip(runs, taken, strict=True)
            )
            found.append(Disagreement(subgraph, node, reasons))
    return found


def _nodes(runs: Sequence[Run]) -> Iterator[tuple[int, Node, tuple[bool, ...]]]:
    for subgraph in runs[0].subgraphs:
        number = subgraph.graph.index
        delegated = [run.subgraphs[number].delegated for run in runs]
        for index in subgraph.graph.execution_plan:
            yield number, subgraph.graph.nodes[index], tuple(index in taken for taken in delegated)
