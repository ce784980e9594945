"""Findings and texts about nodes that compute other numbers than the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...foundation.printable import and_list, counted, printable
from ...rules.rule import Reason
from ...runtime.interpreter import Run
from ..report.findings import NOTE, WARNING, Finding, node_finding, node_location
from ..report.measures import NUMBERS, Measures
from .risks import NumberRisk, number_risks

_NODES_TOLD = 5


def risk_findings(run: Run) -> Iterator[Finding]:
    """Yield a warning for each node that computes wrongly, and a note for each node that may compute wrongly."""
    for risk in number_risks(run):
        level = WARNING if risk.is_certain else NOTE
        subgraph, refusal = run.subgraphs[risk.subgraph], risk.refusal
        if risk.node is None:
            yield Finding(refusal.code, level, refusal.message, refusal.hint, node_location(subgraph, None))
            continue
        reason = Reason(refusal.code, "numbers", refusal.message, "", "", refusal.hint)
        outcome = "computes wrong numbers" if risk.is_certain else "may compute wrong numbers"
        yield node_finding(refusal.code, level, outcome, subgraph, risk.node, [reason])


def risks_text(risks: Sequence[NumberRisk], link: str, whole: str = "them") -> str:
    """Return the rest of a sentence about the delegate, with ``link`` before it: what the delegate computes wrongly.

    ``whole`` names the delegated nodes. Return "" if nothing is known to be wrong.
    """
    places = {(risk.subgraph, risk.node): risk.op for risk in risks if risk.node is not None}
    certain = {(risk.subgraph, risk.node) for risk in risks if risk.is_certain}
    wrong = {place: op for place, op in places.items() if place in certain}
    possible = {place: op for place, op in places.items() if place not in certain}
    outputs = [risk for risk in risks if risk.node is None]
    unwritten = "does not write" if any(risk.is_certain for risk in outputs) else "may not write"
    parts = [
        *([f"computes {len(wrong):,} of {whole} wrongly: {_listed(wrong)}"] if wrong else []),
        *([f"{unwritten} {counted(len(outputs), 'output')}"] if outputs else []),
        *([f"may compute {len(possible):,} of {whole} wrongly: {_listed(possible)}"] if possible else []),
    ]
    return link + ", and ".join(parts) if parts else ""


def counts_text(measures: Measures, link: str) -> str:
    """Return ``link`` and the numbers of wrong and possibly wrong results, or "" if there are none."""
    parts = [counted(number, column.noun) for column in NUMBERS if (number := column.of(measures))]
    return link + and_list(parts) if parts else ""


def _listed(nodes: Mapping[tuple[int, int], str]) -> str:
    names = [f"{printable(op)} {f'{subgraph}:' if subgraph else ''}{node}" for (subgraph, node), op in nodes.items()]
    more = f" and {len(names) - _NODES_TOLD:,} more" if len(names) > _NODES_TOLD else ""
    return ", ".join(names[:_NODES_TOLD]) + more


def unchecked_numbers(run: Run) -> Sequence[str]:
    """Return the words for numbers that were not checked in the run's release, if there are risks."""
    return () if not number_risks(run) or run.delegate.numbers_are_checked(run.release) else ("the numbers",)
