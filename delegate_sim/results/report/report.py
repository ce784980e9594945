"""The report of one or more runs, and its JSON form."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from ...errors import OptionError
from ...foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, Table, entry, head, within
from ...graph.graph import Graph
from ...model.model import Model
from ...runtime.interpreter import Run, SubgraphRun
from ...runtime.run import OwnRuntime
from .display import Shown, Times, json_array, json_object, json_value, shown_times, strip_picture, times_tables
from .measures import NOT_RUNNING, PREDICTED, counted_partitions, measure, outcome_text
from .multiply_adds import Compute, compute_of
from .number_risks import NUMBER_RISKS
from .placement import SPLIT, cpu_nodes, dropped_partitions, partitions, placed_partitions, placements, refusals, splits_of
from .tables import (
    COMPILATION,
    NODE_ENTRY,
    PARTITION_ENTRY,
    STATE,
    TIMES,
    model_name,
    placed_nodes,
    report_tables,
    run_columns,
    run_words,
    selected_state,
)
from .verdict import verdict

if TYPE_CHECKING:
    from .placement import NodeOnCpu, NodeRefusal, RunPartition


class Viewer(Protocol):
    """Creates and shows the page of a report."""

    def html(self, report: Report) -> str:
        """Return the page."""

    def show(self, report: Report, path: str | os.PathLike[str] | None) -> None:
        """Show the page."""


class _Subgraph(NamedTuple):
    run: Run
    own: SubgraphRun
    graph: Graph
    compute: Compute


def _subgraphs(run: Run) -> Iterator[_Subgraph]:
    compute = compute_of(run)
    for own in run.subgraphs:
        yield _Subgraph(run, own, own.graph, compute)


def _supported(own: SubgraphRun) -> int:
    verdicts = {} if own.decision is None else own.decision.verdicts
    return sum([index in verdicts and verdicts[index].is_supported for index in own.graph.execution_plan])


def _groups(own: SubgraphRun) -> list[list[list[int]]] | None:
    groups = None if own.decision is None else own.decision.groups
    return None if groups is None else [[list(place) for place in group] for group in groups]


def placement_entries(report: Report) -> list[dict[str, Any]] | None:
    """Return the place of each node in a chain, or None for independent runs."""
    if not report.is_chain:
        return None
    return [
        {"subgraph": subgraph, "nodes": [{"index": node.index, "op": node.op, "runs_on": place} for node, place in places]}
        for subgraph, places in enumerate(placements(report.runs))
    ]


def _state(run: Run) -> str | None:
    """Return the outcome in words if it is worse than ``outcome`` says, or None."""
    outcome = measure(run).outcome
    return outcome_text(outcome) if outcome in (PREDICTED, *NOT_RUNNING) else selected_state(run.delegate)


def _application_entry(report: Report) -> dict[str, Any] | None:
    """Return the columns of the report on the application. None for delegates, and for several runs."""
    run = report.runs[0] if len(report.runs) == 1 else None
    return entry(run.delegate.columns, run.application) if run is not None and isinstance(run.delegate, OwnRuntime) else None


SUBGRAPH = (
    *within("graph", [Column("index", INTEGER), Column("name")]),
    Column("nodes_total", INTEGER, source=lambda part: len(part.graph.execution_plan)),
    Column("nodes_supported", INTEGER, source=lambda part: _supported(part.own)),
    Column("nodes_delegated", INTEGER, source=lambda part: len(part.own.delegated)),
    Column("partitions", INTEGER, source=lambda part: counted_partitions(part.run.delegate, part.own.subsets)),
    Column("delegate_kernels", INTEGER, source=lambda part: sum(subset.is_delegated for subset in part.own.subsets)),
    Column("multiply_adds", INTEGER, source=lambda part: sum(part.compute.by_node[part.graph.index].values())),
    Column("multiply_adds_delegated", INTEGER, source=lambda part: part.compute.of(part.graph.index, part.own.delegated)),
    Column("partitions_dropped", LIST, source=lambda part: [len(subset.nodes) for subset in dropped_partitions(part.own)]),
    Column("nodes", LIST, source=lambda part: placed_nodes(part.run, part.own), parts=NODE_ENTRY),
    Column("partition_list", LIST, source=lambda part: placed_partitions(part.run, part.own), parts=PARTITION_ENTRY),
    Column("split", LIST, source=lambda part: splits_of(part.run, part.own) or None, parts=SPLIT, is_optional=True),
    Column("groups", LIST, source=lambda part: _groups(part.own), is_optional=True),
)
"""The columns of a subgraph of a run."""
RUN_ENTRY = (
    *(*run_columns("delegate"), Column("kernel_name", source="delegate.kernel_name")),
    *(*run_columns("runtime", "defaults", "options", "rule_set"), Column("by_default", YES_OR_NO)),
    *(Column("state", source=_state, is_optional=True), *STATE[1:]),
    *(Column("outcome"), Column("refusal", OBJECT), Column("log_lines", LIST)),
    *(NUMBER_RISKS, *COMPILATION),
    Column("subgraphs", LIST, source=_subgraphs, parts=SUBGRAPH),
)
"""The columns of a run in JSON."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(Shown):
    """Independent runs of one model, or a chain of runs. ``to_dict`` returns plain data with a stable schema."""

    document = "report"
    columns: ClassVar[Sequence[Column]] = (
        *(Column("model", OBJECT), Column("runs", LIST, parts=RUN_ENTRY)),
        Column("placement", LIST, source=placement_entries, is_optional=True),
        Column("live", LIST, source=lambda report: report.live or None, is_optional=True),
        TIMES,
        Column("micro", OBJECT, source=_application_entry, is_optional=True),
    )

    model: Model
    runs: tuple[Run, ...]
    is_chain: bool = False
    """Whether the runs form a chain. In a chain, each run gets the nodes that earlier runs did not take."""
    viewer: Viewer | None = None
    """The viewer that shows the report as a page. Reports from ``analyze`` and ``simulate`` have a viewer."""
    times: tuple[Times, ...] = ()
    """The measured times, if the user gave op profiles."""
    live: tuple[Declared, ...] = ()
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
        return tuple(refusals(self.advised_runs))

    @functools.cached_property
    def cpu_nodes(self) -> tuple[NodeOnCpu, ...]:
        """The nodes that run on the CPU. In a chain, these are the nodes that no delegate runs."""
        return tuple(cpu_nodes(self.runs, self.is_chain))

    @functools.cached_property
    def partitions(self) -> tuple[RunPartition, ...]:
        """The partitions of every run in execution order, on the delegate and on the CPU."""
        return tuple(partitions(self.runs))

    @property
    def application(self) -> Any:
        """The report on the application of a runtime of whole models (``MicroReport``). None for delegates."""
        return next((run.application for run in self.runs if run.application is not None), None)

    def has_failed(self, run: Run) -> bool:
        """Return whether a run fails. A runtime of whole models also fails if it runs the model without its weights."""
        return run.refusal is not None or (run.application is not None and not run.application.computes)

    def to_dict(self, *, advice: bool = False) -> dict[str, Any]:
        """Return the report as plain data (schema ``delegate-sim/report/1``).

        By default, hints come from the rules. If ``advice`` is true, hints come from a diagnosis, as in the output of commands.
        A diagnosis takes several simulations.
        """
        return super(Report, replace(self, runs=self.advised_runs) if advice else self).to_dict()

    def to_json(self, *, advice: bool = False) -> str:
        """Return the report as JSON text. This method takes far less memory than ``to_dict``."""
        return "".join(self.json_parts(advice=advice))

    def json_parts(self, *, advice: bool = False) -> Iterator[str]:
        """Yield the JSON in parts, run by run."""
        runs = self.advised_runs if advice else self.runs
        model, _, *others = self.columns
        first, last = ({**head(self.document), **entry([model], self)}, entry(others, self))
        head_parts, tail = ({key: json_value(value) for key, value in part.items()} for part in (first, last))
        return json_object({**head_parts, "runs": json_array(json_value(entry(RUN_ENTRY, run)) for run in runs), **tail})

    def to_html(self) -> str:
        """Return the report as one self-contained HTML page."""
        return self._viewer().html(self)

    def show(self, path: str | os.PathLike[str] | None = None) -> None:
        """Show the report as a page. In a notebook, the page appears below the cell. Otherwise, the browser shows the page.

        If ``path`` is given, write the page to this path. Otherwise, the browser opens a temporary file.
        """
        self._viewer().show(self, path)

    def _viewer(self) -> Viewer:
        if self.viewer is None:
            raise OptionError("this report has no page: use a report of analyze() or simulate()")
        return self.viewer

    def _summary(self) -> Sequence[tuple[str, str]]:
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
