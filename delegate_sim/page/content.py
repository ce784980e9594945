"""The content of the page as plain data: graphs, results and causes of each target, and matching nodes of two models.

Text that may contain names from a model is made printable and is shortened. The page never interprets text as markup.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from itertools import groupby
from typing import Any

from ..diagnosis.advice.commands import fix_command
from ..diagnosis.diagnosis import Diagnosis
from ..diagnosis.examiner import Cost
from ..diagnosis.ranking import RankedCause
from ..foundation.columns import entry, head
from ..foundation.limits import naming_model
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..hypothetical.hypothetical_changes import NodeKey
from ..micro.report import MicroReport
from ..model.model import Model
from ..results.compare.comparison_verdict import api_defaults_text
from ..results.compare.model_changes import compare_outlines
from ..results.compare.model_outline import outline
from ..results.report.display import STATES, node_state
from ..results.report.findings import risk_findings
from ..results.report.measures import FURTHER, TAKEN, Measures, measure, outcome_text
from ..results.report.multiply_adds import COMPUTE, ComputeTotals, compute_of
from ..results.report.number_risks import number_risks
from ..results.report.outcome_words import plugin_notes, words_of
from ..results.report.placement import bytes_across, crossing, node_reasons
from ..results.report.tables import selected_state
from ..results.report.verdict import verdict, verdict_summary
from ..rules.rule import Reason
from ..runtime.interpreter import Run, SubgraphRun, option_values
from ..timing.measured import KERNEL, MeasuredPart, Timing, cpu_time, kernel_times, node_times
from .card import without_folder
from .graph_tables import (
    PageGraphs,
    arena_entry,
    operator_counts,
    plain_reasons,
    short_name,
    short_text,
    tensor_positions,
    whole_entry,
)
from .layout import CLOSED_HEIGHT, CLOSED_WIDTH, HEADER, NODE_HEIGHT, NODE_WIDTH, SMALL_HEIGHT, SMALL_WIDTH

_MOST_BARS = 500
"""Largest number of bars. If there are more parts, neighbors among the shorter parts share a bar in their place."""


def strip_entry(timings: Sequence[Timing], delegate: str) -> dict[str, Any] | None:
    """Return the bars of the first profile with kernels of the delegate, or without kernels. None if there is no such profile."""
    timing = next((own for own in timings if own.parts and delegate in (own.delegates or (delegate,))), None)
    if timing is None:
        return None
    parts, alone = timing.parts, set(range(len(timing.parts)))
    if len(parts) > _MOST_BARS:
        # Between n bars are at most n + 1 bars of neighbors.
        alone = set(sorted(alone, key=lambda number: -parts[number].ms)[: _MOST_BARS // 2 - 1])
    groups = groupby(range(len(parts)), key=lambda number: number if number in alone else -1)
    bars = [_bar(*[parts[number] for number in members]) for _, members in groups]
    return {"profile": short_name(os.path.basename(timing.path)), "total": timing.total_ms, "bars": bars}


def _bar(*parts: MeasuredPart) -> dict[str, Any]:
    part, kinds = parts[0], {part.kind for part in parts}
    count = f" x {part.count:,}" if part.count > 1 else ""
    label = f"{part.op}{' kernel' if part.kind == KERNEL else ''}{count}"
    label += f" and {len(parts) - 1:,} more" if len(parts) > 1 else ""
    first = min(part.nodes, default=None)
    kind = kinds.pop() if len(kinds) == 1 else "rest"
    return {
        "label": short_name(label),
        "kind": kind,
        "ms": sum([own.ms for own in parts]),
        "node": None if first is None else list(first),
    }


def subgraph_times(run: SubgraphRun, delegate: str, timings: Sequence[Timing]) -> dict[str, Any]:
    """Return the known times: the times of nodes by position, and the times of partitions by number."""
    if not timings:
        return {}
    index = run.graph.index
    nodes = node_times(timings)
    kernels = dict(kernel_times(timings, delegate))
    partitions: dict[str, float] = {}
    for number, subset in enumerate(run.subsets):
        keys = [NodeKey(index, node) for node in subset.nodes]
        own = [nodes[key] for key in keys if key in nodes]
        ms = kernels.get(frozenset(keys)) if subset.is_delegated else sum(own) if len(own) == len(keys) else None
        if ms is not None:
            partitions[str(number)] = ms
    positions = {NodeKey(index, node): position for position, node in enumerate(run.graph.execution_plan)}
    return {"ms": {str(positions[key]): ms for key, ms in nodes.items() if key in positions}, "partition_ms": partitions}


def cause_times(nodes: Sequence[NodeKey], timings: Sequence[Timing]) -> dict[str, Any]:
    """Return the measured CPU time of a cause's nodes. The result is empty if no node has a measured time."""
    time = cpu_time(timings, nodes)
    return {"ms": time.ms, "without_time": time.unknown} if time.unknown < len(nodes) else {}


_WORDS = ("actor", "taken", "left", "elsewhere", "kernel", "kernels")
_MOST, _HARDLY_ANY = 0.9, 0.1
"""The smallest delegated share of multiply-adds for a good color of the verdict, and the largest share for a bad one."""


@dataclass(frozen=True, slots=True)
class PageView:
    """One model on one target, with the diagnosis if there is one. ``causes_left_out`` names a limit that prevented it."""

    model: Model
    run: Run
    diagnosis: Diagnosis | None = None
    causes_left_out: str = ""
    timings: tuple[Timing, ...] = ()
    """The measured times, if the user gave op profiles."""


def page_content(views: Sequence[PageView]) -> dict[str, Any]:
    """Return the content of a page."""
    models = list({id(view.model): view.model for view in views}.values())
    numbers = {id(model): number for number, model in enumerate(models)}
    planned = {id(view.model): view.run.application for view in views if view.run.application is not None}
    graphs = PageGraphs()
    return {
        **head("page"),
        "states": list(STATES),
        "further": [{"key": column.key, "title": column.caption or column.title, "unit": column.unit} for column in FURTHER],
        "sizes": {
            "node": [NODE_WIDTH, NODE_HEIGHT],
            "small": [SMALL_WIDTH, SMALL_HEIGHT],
            "closed": [CLOSED_WIDTH, CLOSED_HEIGHT],
            "header": HEADER,
        },
        "models": [_model_entry(model, planned.get(id(model))) for model in models],
        "views": [_drawn(view, numbers[id(view.model)], graphs) for view in views],
        "graphs": graphs.entries,
        "matches": [_matches(models[0], other) for other in models],
        "site": _site(),
    }


def _site() -> str:
    try:
        addresses = metadata("delegate-sim").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    address = next((text.split(", ", 1)[1] for text in addresses if text.startswith("Documentation, ")), "")
    return "" if f"//{_UNKNOWN_OWNER}." in address else address


_UNKNOWN_OWNER = "OWN" + "ER"
"""The owner in ``pyproject.toml`` before the repository is published."""


def _model_entry(model: Model, application: MicroReport | None) -> dict[str, Any]:
    name = "a model given as bytes" if model.path is None else os.path.basename(model.path)
    arena = None if application is None else arena_entry(application)
    own = {"name": short_name(name), "bytes": model.size, "sha256": model.sha256}
    return own if arena is None else {**own, "arena": arena}


def _drawn(view: PageView, model: int, graphs: PageGraphs) -> dict[str, Any]:
    with naming_model(view.model.path):
        return _view_entry(view, model, graphs)


def _view_entry(view: PageView, model: int, graphs: PageGraphs) -> dict[str, Any]:
    run = view.run if view.diagnosis is None else view.diagnosis.advised_run
    cache = None if view.diagnosis is None else view.diagnosis.effort.cache
    reasons: dict[Reason, int] = {}
    measures = measure(run)
    options = option_values(run.options)
    compute = compute_of(run)
    wrong_numbers = [f"{finding.message}; what to do: {finding.hint}" for finding in risk_findings(run)]
    not_simulated = [f"not simulated: {reason}" for reason in (view.diagnosis.not_simulated if view.diagnosis else ())]
    return {
        **({"micro": True} if run.delegate.runs_whole_models else {}),
        "model": model,
        "delegate": run.delegate.name,
        "runtime": str(run.release),
        "options": {key: short_text(str(value)) for key, value in options.items() if value not in (None, "", [])},
        "headline": short_text(verdict(run, measures)),
        "summary": short_text(verdict_summary(run, measures)),
        "words": {name: getattr(words_of(run.delegate.name), name) for name in _WORDS},
        "note": next(plugin_notes([run], only_plugins=True), "") if run.takes_nodes else "",
        "grade": _grade(run, measures, compute.totals),
        **({"fails": True} if _fails(run, measures) else {}),
        "measures": {**measures.to_dict(), **entry(COMPUTE, compute)},
        "refusal": None
        if run.refusal is None
        else {"code": run.refusal.code, "message": short_text(run.refusal.text), "hint": short_text(run.refusal.hint)},
        "api_defaults": short_text(api_defaults_text(view.model, run, cache)),
        "log_lines": [short_text(line) for line in run.log_lines],
        "warnings": [short_text(warning) for warning in (*wrong_numbers, *run.warnings, *not_simulated)],
        "subgraphs": [
            {**_subgraph_entry(subgraph, run, graphs, reasons), **subgraph_times(subgraph, run.delegate.name, view.timings)}
            for subgraph in run.subgraphs
        ],
        "time": strip_entry(view.timings, run.delegate.name),
        "causes": None if view.diagnosis is None else _cause_entries(view.diagnosis, view.timings),
        "fix": None
        if view.diagnosis is None or (plain := view.diagnosis.plain_fix) is None
        else _fix_entry(view.diagnosis, plain.result, *plain.arguments),
        "causes_left_out": short_text(view.causes_left_out),
        "now": None if view.diagnosis is None else _cost_entry(view.diagnosis.now),
        # The entries above number the reasons, so the list of reasons must be created last.
        "reasons": plain_reasons(reasons),
    }


def _fails(run: Run, measures: Measures) -> bool:
    return run.refusal is not None or (measures.outcome != TAKEN and measures.is_delegated)


def _grade(run: Run, measures: Measures, compute: ComputeTotals) -> str:
    """Return the color of the verdict, by the delegated share of multiply-adds, or of the nodes of a model without them."""
    if _fails(run, measures) or any(risk.is_certain for risk in number_risks(run)):
        return "bad"
    if not measures.is_delegated:
        return "none"
    if state := selected_state(run.delegate):
        return state
    share = compute.delegated_share if compute.multiply_adds else measures.delegated_share
    return "most" if share >= _MOST else "none" if share <= _HARDLY_ANY else "part"


def _subgraph_entry(run: SubgraphRun, whole_run: Run, graphs: PageGraphs, reasons: dict[Reason, int]) -> dict[str, Any]:
    graph = run.graph
    states = [STATES.index(node_state(run, index)) for index in graph.execution_plan]
    position_of = {index: position for position, index in enumerate(graph.execution_plan)}
    refusals = {at: node_reasons(run, index, whole_run.refusal) for index, at in position_of.items() if states[at]}
    tensor_of = tensor_positions(graph)
    if whole_run.delegate.runs_whole_models:
        return graphs.drawn(SubgraphRun(graph), states, refusals, reasons, [{**whole_entry(graph), "delegated": not any(states)}])
    partitions = [_partition_entry(graph, subset, position_of, tensor_of) for subset in run.subsets] or [whole_entry(graph)]
    return graphs.drawn(run, states, refusals, reasons, partitions)


def _partition_entry(
    graph: Graph, subset: Subset, position_of: Mapping[int, int], tensor_of: Mapping[int, int]
) -> dict[str, Any]:
    return {
        "delegated": subset.is_delegated,
        "nodes": [position_of[index] for index in subset.nodes if index in position_of],
        "operators": operator_counts(graph, subset.nodes),
        "inputs": [tensor_of[tensor] for tensor in crossing(graph, subset.inputs) if tensor in tensor_of],
        "outputs": [tensor_of[tensor] for tensor in crossing(graph, subset.outputs) if tensor in tensor_of],
        "bytes": list(bytes_across(graph, subset)),
    }


def _cause_entries(diagnosis: Diagnosis, timings: Sequence[Timing]) -> list[dict[str, Any]]:
    findings = diagnosis.findings
    numbers = {finding.cause.identity: number for number, finding in enumerate(findings)}
    return [
        {
            **_cause_entry(finding, numbers),
            "fix": None if fix is None else _fix_entry(diagnosis, fix.text, "--pass", fix.pass_.name),
            **cause_times(finding.cause.nodes, timings),
        }
        for finding, fix in zip(findings, map(diagnosis.found_pass, findings), strict=True)
    ]


def _fix_entry(diagnosis: Diagnosis, text: str, *arguments: str) -> dict[str, str]:
    command = fix_command(without_folder(diagnosis.model), diagnosis.target, *arguments)
    return {"text": short_text(text), "command": short_text(command)}


def _cause_entry(finding: RankedCause, numbers: Mapping[Any, int]) -> dict[str, Any]:
    """Return a ranked cause as plain data. ``numbers`` numbers the causes that ``needs`` and ``needs_instead`` name."""
    cause = finding.cause
    return {
        "title": short_text(cause.title),
        "codes": list(cause.codes),
        "operators": [[short_name(op), count] for op, count in cause.operators],
        "nodes": [[key.subgraph, key.node] for key in cause.nodes],
        "followers": [[key.subgraph, key.node] for key in finding.followers],
        "found": short_text(cause.found),
        "needed": short_text(cause.needed),
        "suggestion": cause.suggestion,
        "change": short_text(cause.change),
        "multiply_adds": finding.multiply_adds,
        "alone": None if finding.alone is None else _cost_entry(finding.alone),
        "together": None if finding.together is None else _cost_entry(finding.together),
        "needs": None if finding.needs is None else [numbers[need] for need in finding.needs],
        "needs_instead": [numbers[need] for need in finding.needs_instead],
        "appears_later": finding.appears_later,
        "assumes_accepted": cause.remedy.accepts,
    }


def _cost_entry(cost: Cost) -> dict[str, Any]:
    return {
        **cost.to_dict(),
        "outcome": outcome_text(cost.measures.outcome, words_of(cost.delegate).outcome),
    }


def _matches(first: Model, other: Model) -> list[list[list[int]]] | None:
    if other is first:
        return None
    matching = compare_outlines(outline(first), outline(other))
    return [[list(pair) for pair in sorted(old_of.items())] for old_of in matching.old_of]
