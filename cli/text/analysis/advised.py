"""Decide whether a report shows the precise advice of a diagnosis or the general hints of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run

from .view import View

if TYPE_CHECKING:
    from delegate_sim.diagnosis.advice.node_advice import Advice

_NODES_ADVISED = 1000
"""Largest number of nodes in a model for which a diagnosis is made. For larger models, the diagnosis takes seconds."""


def advice_on(report: Report, run: Run, view: View) -> Advice | None:
    """Return a diagnosis's advice on the nodes that stay on the CPU. Return None if there is no such node or the model is large.

    The result is also None for a chain of several delegates, since a diagnosis ignores earlier delegates.
    """
    is_one_of_several = report.is_chain and sum([not delegate_run.by_default for delegate_run in report.runs]) > 1
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs])
    if view.advise is None or is_one_of_several or run.by_default or nodes > _NODES_ADVISED:
        return None
    return view.advise(report.model, run) if any(True for _ in on_cpu(run)) else None


def advise_entry(report: Report, run: Run, entry: dict[str, Any], view: View) -> None:
    """Replace the hints in ``entry``, the plain data of a run, with the precise advice that the text of the report gives."""
    advice = advice_on(report, run, view)
    if advice is None:
        return
    if entry["refusal"] is not None and advice.refusal:
        entry["refusal"]["hint"] = advice.refusal
    for subgraph in entry["subgraphs"]:
        for node in subgraph["nodes"]:
            for reason in node["reasons"]:
                changes = advice.changes(subgraph["index"], [node["index"]], reason["code"])
                reason["hint"] = "; ".join(changes) or reason["hint"]
