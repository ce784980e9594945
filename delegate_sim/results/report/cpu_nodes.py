"""List the nodes that stay on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...rules.rule import Reason
from ...runtime.interpreter import Run, SubgraphRun
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
