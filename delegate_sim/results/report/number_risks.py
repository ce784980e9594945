"""The nodes that run on the delegate and compute other numbers than the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...foundation.columns import INTEGER, LIST, Column
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...refusal import Effect, Refusal
from ...runtime.interpreter import Run


class NumberRisk(NamedTuple):
    """The refusal of the stage ``numbers`` for a node, or for an output that is never written, and the node's operator."""

    refusal: Refusal
    op: str
    """The operator of the node, or "" for an output."""

    @property
    def subgraph(self) -> int:
        """The index of the subgraph."""
        return self.refusal.subgraph

    @property
    def node(self) -> int | None:
        """The index of the node, or None for an output."""
        return self.refusal.node

    @property
    def place(self) -> tuple[int, int | None, int | None]:
        """The subgraph, and the node or, for an output, the tensor."""
        return self.subgraph, self.node, self.refusal.tensor if self.node is None else None

    @property
    def is_certain(self) -> bool:
        """Whether the numbers are wrong for ordinary inputs."""
        return self.refusal.effect is Effect.WRONG_NUMBERS


NUMBER_RISK = (
    Column("subgraph", INTEGER, "the index of the subgraph"),
    Column("node", INTEGER, "the index of the node, or null for an output of the graph"),
    Column("op", meaning="the operator of the node"),
    Column("code", meaning="the code of the condition", source="refusal.code"),
    Column("certainty", meaning="wrong for ordinary inputs, or may be wrong", source="refusal.effect.value"),
    Column("message", meaning="what the delegate computes", source="refusal.message"),
    Column("hint", meaning="how to change the model", source="refusal.hint"),
)
"""The columns of a risk."""


def number_risks(run: Run) -> Sequence[NumberRisk]:
    """Return the risks of a run in execution order. If the model does not run, there are none."""
    return [] if run.refusal is not None else list(_risks(run))


class RiskCounts(NamedTuple):
    """Numbers of nodes and outputs. A node with several risks counts once."""

    wrong: int
    possibly_wrong: int


def counted_risks(run: Run) -> RiskCounts | None:
    """Return the numbers of results that are wrong and that may be wrong, or None if nothing is known about the numbers."""
    risks = number_risks(run)
    if not run.delegate.has_number_rules and not risks:
        return None
    wrong = {risk.place for risk in risks if risk.is_certain}
    return RiskCounts(len(wrong), len({risk.place for risk in risks} - wrong))


def _risks(run: Run) -> Iterator[NumberRisk]:
    for subgraph in run.subgraphs:
        for subset in subgraph.plan if subgraph.decision is not None else ():
            if subset.is_delegated and subgraph.decision is not None:
                yield from _found(run, subgraph.decision.graph, subset)


def _found(run: Run, graph: Graph, subset: Subset) -> Sequence[NumberRisk]:
    delegate, options, release = run.delegate, run.options, run.release
    known = graph.results.get("numbers", (delegate.name, options, release), dict[Subset, Sequence[NumberRisk]])
    if subset not in known:
        known[subset] = [_risk(graph, refusal) for refusal in delegate.number_risks(graph, subset, options, release)]
    return known[subset]


def _risk(graph: Graph, refusal: Refusal) -> NumberRisk:
    op = "" if refusal.node is None else graph.nodes[refusal.node].op
    return NumberRisk(replace(refusal, subgraph=graph.index), op)


NUMBER_RISKS = Column(
    "number_risks",
    LIST,
    "nodes that run on the delegate and compute other numbers than the CPU",
    source=lambda run: number_risks(run) or None,
    parts=NUMBER_RISK,
    is_optional=True,
)
"""The column of a run's risks."""
