"""The report of one or more runs, as objects and as the dictionary behind JSON output."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...delegates.partition_limits import largest_partitions
from ...errors import OptionError
from ...foundation.printable import shortened
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...model.model import Model, Node
from ...model.precompiled import has_dispatches, is_dispatch
from ...rules.kinds import DYNAMIC_TENSORS, NOT_LOADED_KINDS, NOT_PREPARED_KINDS, PARTITION_LIMIT
from ...rules.rule import Reason
from ...runtime.interpreter import Refusal, Run, SubgraphRun, option_values
from ...version import __version__
from .device_splits import splits_entry
from .display import Shown, Table
from .multiply_adds import Compute, compute_of
from .outcome_words import SELECTED
from .rule_set import rule_set_version

SCHEMA = "delegate-sim/report/1"


class Viewer(Protocol):
    """Make the page of a report, and shows it."""

    def html(self, report: Report) -> str:
        """Return the page."""

    def show(self, report: Report, path: str | os.PathLike[str] | None) -> None:
        """Show the page."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Shown):
    """Runs of one model: each on its own, or a chain. ``to_dict`` gives the stable form."""

    model: Model
    runs: tuple[Run, ...]
    is_chain: bool = False
    """True if each run starts from what the previous one left."""
    viewer: Viewer | None = None
    """What shows the page; reports of ``analyze`` and ``simulate`` have one."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data (schema ``delegate-sim/report/1``)."""
        return {**self._head(), "runs": [_run_entry(run) for run in self.runs], **self._placement()}

    def to_json(self) -> str:
        """Return the same as JSON, which takes far less memory than ``to_dict`` does."""
        return "".join(self.json_parts())

    def json_parts(self, amend: Callable[[Run, dict[str, Any]], None] | None = None) -> Iterator[str]:
        """Make the same as JSON, run by run; ``amend`` may change what is said of one."""
        from .json_parts import json_array, json_object, json_value

        def entries() -> Iterator[dict[str, Any]]:
            for run in self.runs:
                entry = _run_entry(run)
                if amend is not None:
                    amend(run, entry)
                yield entry

        head, placement = ({key: json_value(value) for key, value in part.items()} for part in (self._head(), self._placement()))
        return json_object({**head, "runs": json_array(map(json_value, entries())), **placement})

    def to_html(self) -> str:
        """Return the report as a page: one HTML file that needs nothing else.

        Raises MissingPackageError where the extra ``report`` is not installed.
        """
        return self._viewer().html(self)

    def show(self, path: str | os.PathLike[str] | None = None) -> None:
        """Show the page: in a notebook below the cell, otherwise in the browser.

        It is written to ``path`` if one is given, else to a temporary file where a browser needs one. Raises as ``to_html``.
        """
        self._viewer().show(self, path)

    def _head(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "tool": {"name": "delegate-sim", "version": __version__},
            "model": _model_entry(self.model),
        }

    def _placement(self) -> dict[str, Any]:
        if not self.is_chain:
            return {}
        entries = [
            {"subgraph": subgraph, "nodes": [{"index": node.index, "op": node.op, "runs_on": place} for node, place in places]}
            for subgraph, places in enumerate(placements(self.runs))
        ]
        return {"placement": entries}

    def _viewer(self) -> Viewer:
        if self.viewer is None:
            raise OptionError("this report has no page: analyze() and simulate() return those that have one")
        return self.viewer

    def _picture(self) -> str:
        from .plan_strip_html import strip_picture

        return "".join([strip_picture(run) for run in self.runs])

    def _line(self) -> str:
        from .tables import report_line

        return report_line(self)

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        from .tables import report_tables

        return report_tables(self)

    def _shown(self) -> Sequence[str]:
        return ("runs", "on_cpu")


COMPILED = "npu"
"""Where a node runs that was compiled ahead of time."""
CPU = "cpu"
"""Where a node that no delegate takes runs."""


def placements(runs: Sequence[Run]) -> list[list[tuple[Node, str]]]:
    """Return where each node of each subgraph finally runs: the name of a delegate, or ``cpu``."""
    found = []
    inlined = _places_in_bodies(runs)
    is_compiled = has_dispatches(runs[0].subgraphs[0].graph.model) if runs[0].subgraphs else False
    for first in runs[0].subgraphs:
        taken: dict[int, str] = {}
        for run in runs:
            for index in run.subgraphs[first.graph.index].delegated:
                taken.setdefault(index, run.delegate.name)
        taken |= _inlined_places(runs, first.graph.index, taken)
        taken = {**inlined.get(first.graph.index, {}), **taken}
        nodes = first.graph.nodes
        plan = first.graph.execution_plan
        rest = {index: COMPILED for index in plan if is_dispatch(nodes[index])} if is_compiled else {}
        found.append([(nodes[index], taken.get(index) or rest.get(index, CPU)) for index in plan])
    return found


def _places_in_bodies(runs: Sequence[Run]) -> dict[int, dict[int, str]]:
    """Return where nodes of inlined bodies run that a later delegate took, by subgraph and index in the file."""
    found: dict[int, dict[int, str]] = {}
    for number, subgraph in enumerate(runs[0].subgraphs):
        places = {} if subgraph.decision is None else subgraph.decision.places
        for run in runs[1:] if places else ():
            for index in run.subgraphs[number].delegated & places.keys():
                body, node = places[index]
                found.setdefault(body, {}).setdefault(node, run.delegate.name)
    return found


def _inlined_places(runs: Sequence[Run], subgraph: int, taken: Mapping[int, str]) -> dict[int, str]:
    """Return where nodes run that one delegate inlined and a later one took, each as a whole."""
    parts: dict[int, set[str]] = {}
    for run in runs:
        decision = run.subgraphs[subgraph].decision
        for part, origin in decision.origins.items() if decision is not None else ():
            parts.setdefault(origin, set()).add(taken.get(part, CPU))
    return {origin: next(iter(places)) for origin, places in parts.items() if origin not in taken and len(places) == 1}


def node_reasons(run: SubgraphRun, index: int, refusal: Refusal | None = None) -> tuple[Reason, ...]:
    """Return why a node is not supported, or why it is supported but not delegated."""
    decision = run.decision
    if decision is None:
        return (_taken_back(refusal),) if refusal is not None else ()
    verdict = decision.verdicts.get(index)
    if verdict is None or not verdict.is_supported:
        return verdict.reasons if verdict else ()
    if index in decision.set_aside:
        return (decision.set_aside[index],)
    if index not in run.delegated and refusal is not None:
        return (_taken_back(refusal),)
    return ()


def dropped_partitions(run: SubgraphRun) -> tuple[Subset, ...]:
    """Return the partitions that only the limit keeps off the delegate, largest first: in the order it would take them."""
    if run.decision is None:
        return ()
    kept = run.decision.set_aside
    dropped = [
        subset
        for subset in run.decision.candidates
        if (reason := kept.get(subset.nodes[0])) is not None and reason.code == PARTITION_LIMIT.name
    ]
    return largest_partitions(dropped, len(dropped))


def border_bytes(graph: Graph, tensors: tuple[int, ...]) -> int:
    """Return the bytes of these tensors that cross a border at run time; constants and what a delegate added do not."""
    return sum([graph.tensors[index].byte_size for index in crossing(graph, tensors)])


def crossing(graph: Graph, tensors: tuple[int, ...]) -> list[int]:
    """Return those of these tensors that are in the file and not constant."""
    return [index for index in tensors if index < len(graph.tensors) and not graph.tensors[index].is_constant]


def node_tensors(graph: Graph, node: Node) -> tuple[list[str | None], list[str | None]]:
    """Return the names of a node's inputs and outputs; None stands for an operand that is left out."""
    found = [[graph.tensors[index].name if index >= 0 else None for index in indices] for indices in (node.inputs, node.outputs)]
    return found[0], found[1]


def _model_entry(model: Model) -> dict[str, Any]:
    return {
        "path": model.path,
        "sha256": model.sha256,
        "bytes": model.size,
        "schema_version": model.version,
        "description": model.description,
        "subgraphs": len(model.subgraphs),
    }


def _run_entry(run: Run) -> dict[str, Any]:
    compute = compute_of(run)
    return {
        "delegate": run.delegate.name,
        "kernel_name": run.delegate.kernel_name,
        "runtime": str(run.release),
        "options": option_values(run.options),
        "rule_set": rule_set_version(run.delegate),
        "by_default": run.by_default,
        **({"state": SELECTED} if run.delegate.is_plugin else {}),
        "outcome": run.outcome,
        "refusal": run.refusal.to_dict() if run.refusal else None,
        "log_lines": list(run.log_lines),
        "warnings": list(run.warnings),
        "subgraphs": [_subgraph_entry(subgraph, run, compute) for subgraph in run.subgraphs],
    }


def _subgraph_entry(run: SubgraphRun, whole: Run, compute: Compute) -> dict[str, Any]:
    graph = run.graph
    counts = compute.by_node[graph.index]
    partition_of = {node: number for number, subset in enumerate(run.subsets) for node in subset.nodes}
    entry = functools.partial(_node_entry, run, partition_of, whole.refusal, counts)
    nodes = [entry(graph.nodes[index]) for index in graph.execution_plan]
    return {
        "index": graph.index,
        "name": graph.name,
        "nodes_total": len(nodes),
        "nodes_supported": sum(node["supported"] for node in nodes),
        "nodes_delegated": len(run.delegated),
        "partitions": len(run.subsets),
        "delegate_kernels": sum(subset.is_delegated for subset in run.subsets),
        "multiply_adds": sum(counts.values()),
        "multiply_adds_delegated": compute.of(graph.index, run.delegated),
        "partitions_dropped": [len(subset.nodes) for subset in dropped_partitions(run)],
        "nodes": nodes,
        "partition_list": [_partition_entry(graph, number, subset, compute) for number, subset in enumerate(run.subsets)],
        **splits_entry(whole, run),
        **_groups_entry(run),
    }


def _groups_entry(run: SubgraphRun) -> dict[str, Any]:
    groups = None if run.decision is None else run.decision.groups
    return {} if groups is None else {"groups": [[list(place) for place in group] for group in groups]}


def _node_entry(
    run: SubgraphRun, partition_of: Mapping[int, int], refusal: Refusal | None, multiply_adds: Mapping[int, int], node: Node
) -> dict[str, Any]:
    verdict = run.decision.verdicts.get(node.index) if run.decision else None
    inputs, outputs = node_tensors(run.graph, node)
    return {
        "index": node.index,
        "op": node.op,
        "version": node.version,
        "inputs": inputs,
        "outputs": outputs,
        "supported": verdict is not None and verdict.is_supported,
        "delegated": node.index in run.delegated,
        "partition": partition_of.get(node.index),
        "multiply_adds": multiply_adds.get(node.index, 0),
        "reasons": [reason.to_dict() for reason in node_reasons(run, node.index, refusal)],
    }


def _partition_entry(graph: Graph, number: int, subset: Subset, compute: Compute) -> dict[str, Any]:
    return {
        "id": number,
        "kind": "delegate" if subset.is_delegated else "cpu",
        "nodes": list(subset.nodes),
        "inputs": crossing(graph, subset.inputs),
        "outputs": crossing(graph, subset.outputs),
        "bytes_in": border_bytes(graph, subset.inputs),
        "bytes_out": border_bytes(graph, subset.outputs),
        "multiply_adds": compute.of(graph.index, subset.nodes),
    }


@functools.lru_cache(maxsize=16)
def _taken_back(refusal: Refusal) -> Reason:
    found = shortened(refusal.message)
    if refusal.stage:
        what = "does not load the model for compiler plugins" if refusal.stage == "load" else "compiles nothing"
        needed = "a model that LiteRT loads" if refusal.stage == "load" else "a plugin that does not fail"
        return Reason(refusal.code, "runtime", f"LiteRT {what}: {found}", found, needed, refusal.hint)
    if refusal.code == DYNAMIC_TENSORS.name:
        needed, what = "no dynamic-sized tensor in the graph", "does not apply the delegate"
    elif refusal.code in [kind.name for kind in NOT_LOADED_KINDS]:
        needed, what = "operators and tensors that the release loads", "does not load the model"
    elif refusal.code in [kind.name for kind in NOT_PREPARED_KINDS]:
        needed, what = "CPU kernels that can be prepared", "does not apply the delegate"
    else:
        needed, what = "every delegate kernel and CPU kernel to prepare", "undid all delegation"
    return Reason(refusal.code, "runtime", f"the runtime {what}: {found}", found, needed, refusal.hint)
