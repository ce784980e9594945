"""The report of one or more runs, and its JSON form."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import OptionError
from ...foundation.columns import entry
from ...foundation.documents import head
from ...model.model import Model
from ...runtime.interpreter import Run, SubgraphRun, option_values
from .device_splits import splits_entry
from .display import Shown, Table, Times, shown_times, times_tables
from .measures import counted_partitions
from .multiply_adds import Compute, compute_of
from .outcome_words import state_entry
from .placement import dropped_partitions, placements
from .records import placed_partitions
from .rule_set import rule_set_version
from .tables import NODE_ENTRY, PARTITION_ENTRY, model_name, placed_nodes, report_tables, run_words

if TYPE_CHECKING:
    from .records import NodeOnCpu, NodeRefusal, RunPartition


class Viewer(Protocol):
    """Creates and shows the page of a report."""

    def html(self, report: Report) -> str:
        """Return the page."""

    def show(self, report: Report, path: str | os.PathLike[str] | None) -> None:
        """Show the page."""


class HasDict(Protocol):
    """A result with a JSON form."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Shown):
    """Independent runs of one model, or a chain of runs. ``to_dict`` returns plain data with a stable schema."""

    model: Model
    runs: tuple[Run, ...]
    is_chain: bool = False
    """Whether the runs form a chain. In a chain, each run gets the nodes that earlier runs did not take."""
    viewer: Viewer | None = None
    """The viewer that shows the report as a page. Reports from ``analyze`` and ``simulate`` have a viewer."""
    times: tuple[Times, ...] = ()
    """The measured times, if the user gave op profiles."""
    live: tuple[HasDict, ...] = ()
    """The decisions of the real delegates, if the user ran them."""
    adviser: Callable[[Model, Run, bool], Run] | None = None
    """A function that returns a run with the advice of a diagnosis.

    The last argument is false if the run is not the first run of a chain.
    """

    @functools.cached_property
    def advised_runs(self) -> tuple[Run, ...]:
        """The runs, with the advice of a diagnosis as hints. A diagnosis takes several simulations."""
        if self.adviser is None:
            return self.runs
        adviser = self.adviser
        return tuple([adviser(self.model, run, not self.is_chain or not number) for number, run in enumerate(self.runs)])

    _rows_shown = 10

    @functools.cached_property
    def log_lines(self) -> tuple[str, ...]:
        """The lines that the runtime logs, run by run."""
        return tuple([line for run in self.runs for line in run.log_lines])

    @functools.cached_property
    def refusals(self) -> tuple[NodeRefusal, ...]:
        """The reasons why nodes do not run on the delegate. There is one entry for each failed check of a node."""
        from .records import refusals

        return tuple(refusals(self.advised_runs))

    @functools.cached_property
    def cpu_nodes(self) -> tuple[NodeOnCpu, ...]:
        """The nodes that run on the CPU. In a chain, these are the nodes that no delegate runs."""
        from .records import cpu_nodes

        return tuple(cpu_nodes(self.runs, self.is_chain))

    @functools.cached_property
    def partitions(self) -> tuple[RunPartition, ...]:
        """The partitions of every run in execution order, on the delegate and on the CPU."""
        from .records import partitions

        return tuple(partitions(self.runs))

    def to_dict(self, *, advice: bool = False) -> dict[str, Any]:
        """Return the report as plain data (schema ``delegate-sim/report/1``).

        By default, hints come from the rules. If ``advice`` is true, hints come from a diagnosis, as in the output of commands.
        A diagnosis takes several simulations.
        """
        runs = self.advised_runs if advice else self.runs
        return {**self._head(), "runs": [_run_entry(run) for run in runs], **self._tail()}

    def to_json(self, *, advice: bool = False) -> str:
        """Return the report as JSON text. This method takes far less memory than ``to_dict``."""
        return "".join(self.json_parts(advice=advice))

    def json_parts(self, *, advice: bool = False) -> Iterator[str]:
        """Yield the JSON in parts, run by run."""
        from .json_parts import json_array, json_object, json_value

        runs = self.advised_runs if advice else self.runs
        head, tail = ({key: json_value(value) for key, value in part.items()} for part in (self._head(), self._tail()))
        return json_object({**head, "runs": json_array(json_value(_run_entry(run)) for run in runs), **tail})

    def to_html(self) -> str:
        """Return the report as one self-contained HTML page."""
        return self._viewer().html(self)

    def show(self, path: str | os.PathLike[str] | None = None) -> None:
        """Show the report as a page. In a notebook, the page appears below the cell. Otherwise, the browser shows the page.

        If ``path`` is given, write the page to this path. Otherwise, the browser opens a temporary file.
        """
        self._viewer().show(self, path)

    def _head(self) -> dict[str, Any]:
        return {
            **head("report"),
            "model": _model_entry(self.model),
        }

    def _tail(self) -> dict[str, Any]:
        """Return the entries that exist only in some reports."""
        live = {"live": [result.to_dict() for result in self.live]} if self.live else {}
        times = {**live, **({"time": [timing.to_dict() for timing in self.times]} if self.times else {})}
        if not self.is_chain:
            return times
        entries = [
            {"subgraph": subgraph, "nodes": [{"index": node.index, "op": node.op, "runs_on": place} for node, place in places]}
            for subgraph, places in enumerate(placements(self.runs))
        ]
        return {"placement": entries, **times}

    def _viewer(self) -> Viewer:
        if self.viewer is None:
            raise OptionError("this report has no page: use a report of analyze() or simulate()")
        return self.viewer

    def _summary(self) -> Sequence[tuple[str, str]]:
        from .plan_strip import strip_picture
        from .verdict import verdict

        words = [run_words(run) if self.is_chain and number else verdict(run) for number, run in enumerate(self.runs)]
        return [(sentence, strip_picture(run)) for sentence, run in zip(words, self.runs, strict=True)]

    def _line(self) -> str:
        chain = ", a chain" if self.is_chain else ""
        return f"{model_name(self.model)}{chain}: {'; '.join(map(run_words, self.runs))}"

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return {**report_tables(self.runs, self.is_chain, lambda: self.advised_runs), **times_tables(self.times)}

    def _shown(self) -> Mapping[str, Sequence[str]]:
        delegate = ("delegate",) if len(self.runs) > 1 else ()
        return {"on_cpu": (*delegate, "nodes", "op", "reasons", "hints"), **shown_times(self.times)}


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
        "defaults": run.target.defaults,
        "options": option_values(run.options),
        "rule_set": rule_set_version(run.delegate),
        "by_default": run.by_default,
        **state_entry(run.delegate, run.options, run.warnings),
        "outcome": run.outcome,
        "refusal": run.refusal.to_dict() if run.refusal else None,
        "log_lines": list(run.log_lines),
        "subgraphs": [_subgraph_entry(subgraph, run, compute) for subgraph in run.subgraphs],
    }


def _subgraph_entry(run: SubgraphRun, whole_run: Run, compute: Compute) -> dict[str, Any]:
    graph = run.graph
    counts = compute.by_node[graph.index]
    nodes = [entry(NODE_ENTRY, node) for node in placed_nodes(whole_run, run)]
    return {
        "index": graph.index,
        "name": graph.name,
        "nodes_total": len(nodes),
        "nodes_supported": sum(node["supported"] for node in nodes),
        "nodes_delegated": len(run.delegated),
        "partitions": counted_partitions(whole_run.delegate, run.subsets),
        "delegate_kernels": sum(subset.is_delegated for subset in run.subsets),
        "multiply_adds": sum(counts.values()),
        "multiply_adds_delegated": compute.of(graph.index, run.delegated),
        "partitions_dropped": [len(subset.nodes) for subset in dropped_partitions(run)],
        "nodes": nodes,
        "partition_list": [entry(PARTITION_ENTRY, placed) for placed in placed_partitions(whole_run, run)],
        **splits_entry(whole_run, run),
        **_groups_entry(run),
    }


def _groups_entry(run: SubgraphRun) -> dict[str, Any]:
    groups = None if run.decision is None else run.decision.groups
    return {} if groups is None else {"groups": [[list(place) for place in group] for group in groups]}
