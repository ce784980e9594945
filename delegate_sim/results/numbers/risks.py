"""The nodes that run on the delegate and compute other numbers than the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...foundation.columns import INTEGER, LIST, Column
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...refusal import Effect, Refusal
from ...runtime.interpreter import Run


class NumberRisk(NamedTuple):
    """One node of a run that computes other numbers than the CPU, or one output that is never written (``node`` is None)."""

    subgraph: int
    node: int | None
    op: str
    code: str
    """The code of the condition (see ``delegate-sim explain``)."""
    certainty: str
    """``wrong`` for ordinary inputs, or ``may be wrong``."""
    message: str
    hint: str

    @property
    def place(self) -> tuple[int, int | str]:
        """The subgraph, and the node. In place of a node, an output has the message, which names the tensor."""
        return self.subgraph, self.message if self.node is None else self.node

    @property
    def is_certain(self) -> bool:
        """Whether the numbers are wrong for ordinary inputs."""
        return self.certainty == Effect.WRONG_NUMBERS.value


NUMBER_RISK = (
    Column("subgraph", INTEGER, "the index of the subgraph"),
    Column("node", INTEGER, "the index of the node, or null for an output of the graph"),
    Column("op", meaning="the operator of the node"),
    Column("code", meaning="the code of the condition"),
    Column("certainty", meaning="wrong for ordinary inputs, or may be wrong"),
    Column("message", meaning="what the delegate computes"),
    Column("hint", meaning="how to change the model"),
)
"""The columns of a risk."""


def number_risks(run: Run) -> Sequence[NumberRisk]:
    """Return the risks of a run in execution order. If the model does not run, there are none."""
    return [] if run.refusal is not None else list(_risks(run))


def _risks(run: Run) -> Iterator[NumberRisk]:
    for subgraph in run.subgraphs:
        for subset in subgraph.plan if subgraph.decision is not None else ():
            if subset.is_delegated and subgraph.decision is not None:
                graph = subgraph.decision.graph
                yield from [_risk(graph, refusal) for refusal in _found(run, graph, subset)]


def _found(run: Run, graph: Graph, subset: Subset) -> Sequence[Refusal]:
    delegate, options, release = run.delegate, run.options, run.release
    key = (delegate.name, subset, options, release)
    return graph.results.get("numbers", key, lambda: list(delegate.number_risks(graph, subset, options, release)))


def _risk(graph: Graph, refusal: Refusal) -> NumberRisk:
    op = "" if refusal.node is None else graph.nodes[refusal.node].op
    certainty = refusal.effect.value
    return NumberRisk(graph.index, refusal.node, op, refusal.code, certainty, refusal.message, refusal.hint)


NUMBER_RISKS = Column(
    "number_risks",
    LIST,
    "nodes that run on the delegate and compute other numbers than the CPU",
    source=lambda run: number_risks(run) or None,
    parts=NUMBER_RISK,
    is_optional=True,
)
"""The column of a run's risks."""
