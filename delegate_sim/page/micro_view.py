"""The view of the page for TensorFlow Lite Micro, and the picture of the arena.

The runtime runs a model as a whole or not at all, so the view has no partitions. Nodes that the runtime refuses have a state of
their own, with the reasons.
"""

from __future__ import annotations

from typing import Any

from ..diagnosis.advice.commands import output_name
from ..diagnosis.micro import MicroCause, MicroDiagnosis
from ..foundation.printable import command_line, typed_path
from ..micro.arena import Arena
from ..micro.graph import micro_graph
from ..micro.preparation import MicroNode, Status
from ..micro.report import MicroReport
from ..micro.resolver import resolver_lines
from ..micro.target import RUNTIME_TITLE, MicroTarget
from ..micro.verdict import micro_outcome
from ..model.model import Model, Subgraph
from ..results.report.plan_strip import DELEGATED, REFUSED, STATES
from ..rules.rule import Reason
from ..runtime.interpreter import SubgraphRun
from .graph_tables import PageGraphs, plain_reasons, short_name, short_text, whole_entry

_MOST_BUFFERS = 2000
"""Largest number of buffers in the picture of an arena."""
_WORDS = {
    "actor": "runtime",
    "taken": "can run",
    "left": "cannot run",
    "elsewhere": RUNTIME_TITLE,
    "kernel": "kernel",
    "kernels": "kernels",
}


def micro_view_entry(view: MicroDiagnosis, model: int, graphs: PageGraphs) -> dict[str, Any]:
    """Return the view as plain data, with the keys of the views of delegates."""
    report = view.report
    reasons: dict[Reason, int] = {}
    nodes = {(node.subgraph, node.index): node for node in report.nodes}
    runnable = [node for node in report.nodes if node.status is Status.OK]
    total, runtime = report.multiply_adds, report.target.runtime
    return {
        "micro": True,
        "model": model,
        "delegate": RUNTIME_TITLE,
        "runtime": f"{report.target.kernels}{'' if runtime.is_checked else f', not checked for {runtime.name}'}",
        "options": {},
        "headline": short_text(f"{RUNTIME_TITLE} {micro_outcome(report)}"),
        "summary": "runs the model" if report.computes else short_text(micro_outcome(report)),
        "words": _WORDS,
        "note": "",
        "grade": "most" if report.computes else "none",
        "measures": {
            "nodes": len(report.nodes),
            "delegated_nodes": len(runnable),
            "multiply_adds": total,
            "delegated_multiply_adds": sum([node.multiply_adds for node in runnable]),
        },
        "refusal": None,
        "api_defaults": "",
        "log_lines": [],
        "warnings": [],
        "subgraphs": [_subgraph_entry(view.model, subgraph, nodes, graphs, reasons) for subgraph in view.model.subgraphs],
        "time": None,
        "causes": view.causes and [_cause_entry(cause, view.model.path or "-", view.report.target) for cause in view.causes],
        "fix": None,
        "causes_left_out": "",
        "now": {"total_multiply_adds": total},
        # The entries above number the reasons, so the list of reasons must be created last.
        "reasons": plain_reasons(reasons),
    }


def _subgraph_entry(
    model: Model, subgraph: Subgraph, nodes: dict[tuple[int, int], MicroNode], graphs: PageGraphs, reasons: dict[Reason, int]
) -> dict[str, Any]:
    graph = micro_graph(model, subgraph)
    refused = {
        position: nodes[graph.index, index].reasons
        for position, index in enumerate(graph.execution_plan)
        if nodes[graph.index, index].status is not Status.OK
    }
    states = [STATES.index(REFUSED if position in refused else DELEGATED) for position in range(len(graph.execution_plan))]
    whole = {**whole_entry(graph), "delegated": not refused}
    return graphs.drawn(SubgraphRun(graph), states, refused, reasons, [whole])


def _cause_entry(cause: MicroCause, path: str, target: MicroTarget) -> dict[str, Any]:
    fix = None
    if cause.passes:
        best = cause.passes[0]
        command = command_line(["fix", typed_path(path), *target.arguments, "--pass", best.name, "-o", output_name(path)])
        fix = {
            "text": short_text(f"rewrite the file with the pass {best.name} ({best.exactness.words})"),
            "command": short_text(command),
        }
    return {
        "title": short_text(cause.title),
        "codes": [cause.code],
        "operators": [[short_name(op), count] for op, count in cause.operators],
        "nodes": [[node.subgraph, node.index] for node in cause.nodes],
        "followers": [],
        "found": "",
        "needed": short_text(cause.needed),
        "suggestion": "change",
        "change": short_text(cause.advice),
        "multiply_adds": cause.multiply_adds,
        "alone": None,
        "together": None,
        "needs": [],
        "needs_instead": [],
        "appears_later": False,
        "assumes_accepted": False,
        "fix": fix,
    }


def arena_entry(report: MicroReport, arena: Arena) -> dict[str, Any]:
    """Return the columns of a table of buffers, and the lines of the resolver for the model.

    If there are too many buffers, return only the buffers with the largest products of size and lifetime.
    """
    buffers = sorted(arena.buffers, key=lambda placed: -placed.area)[:_MOST_BUFFERS]
    return {
        "resolver": list(resolver_lines(report.operators, report.variables)),
        "head": arena.head,
        "tail": arena.tail,
        "total": arena.total,
        "left_out": len(arena.buffers) - len(buffers),
        "name": [short_name(placed.buffer.name) for placed in buffers],
        "bytes": [placed.buffer.requirement.size for placed in buffers],
        "offset": [placed.offset for placed in buffers],
        "first": [placed.buffer.requirement.first for placed in buffers],
        "last": [placed.buffer.requirement.last for placed in buffers],
        "scratch": [placed.buffer.tensor is None for placed in buffers],
    }
