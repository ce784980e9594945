"""The nodes that run on the delegate and compute other numbers than the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...foundation.columns import INTEGER, LIST, Column
from ...foundation.printable import counted, printable
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...refusal import Effect, Refusal
from ...rules.rule import Reason
from ...runtime.interpreter import Run
from .findings import NOTE, WARNING, Finding, node_finding, node_location

_NODES_TOLD = 5


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


def risk_findings(run: Run) -> Iterator[Finding]:
    """Yield a warning for each node that computes wrongly, and a note for each node that may compute wrongly."""
    for risk in number_risks(run):
        level = WARNING if risk.is_certain else NOTE
        subgraph = run.subgraphs[risk.subgraph]
        if risk.node is None:
            yield Finding(risk.code, level, risk.message, risk.hint, node_location(subgraph, None))
            continue
        reason = Reason(risk.code, "numbers", risk.message, "", "", risk.hint)
        outcome = "computes wrong numbers" if risk.is_certain else "may compute wrong numbers"
        yield node_finding(risk.code, level, outcome, subgraph, risk.node, [reason])


def risks_text(run: Run, link: str) -> str:
    """Return the rest of a sentence about the delegate, with ``link`` before it: what the delegate computes wrongly.

    Return "" if nothing is known to be wrong.
    """
    risks = number_risks(run)
    places = {(risk.subgraph, risk.node): risk.op for risk in risks if risk.node is not None}
    certain = {(risk.subgraph, risk.node) for risk in risks if risk.is_certain}
    wrong = {place: op for place, op in places.items() if place in certain}
    possible = {place: op for place, op in places.items() if place not in certain}
    outputs = len([risk for risk in risks if risk.node is None])
    parts = [
        *([f"computes {len(wrong):,} of them wrongly: {_listed(wrong)}"] if wrong else []),
        *([f"does not write {counted(outputs, 'output')}"] if outputs else []),
        *([f"may compute {len(possible):,} of them wrongly: {_listed(possible)}"] if possible else []),
    ]
    return link + ", and ".join(parts) if parts else ""


def _listed(nodes: Mapping[tuple[int, int | None], str]) -> str:
    """Return operators with the indices of their nodes, such as ``PAD 14, ADD 20``. Long lists are cut."""
    names = [f"{printable(op)} {f'{subgraph}:' if subgraph else ''}{node}" for (subgraph, node), op in nodes.items()]
    more = f" and {len(names) - _NODES_TOLD:,} more" if len(names) > _NODES_TOLD else ""
    return ", ".join(names[:_NODES_TOLD]) + more


def unchecked_numbers(run: Run) -> Sequence[str]:
    """Return the words for numbers that were not checked in the run's release, if there are risks."""
    return () if not number_risks(run) or run.delegate.numbers_are_checked(run.release) else ("the numbers",)
