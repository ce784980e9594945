"""What a log says a delegate did to a model's graphs, as far as it can be compared with a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..delegates.base import Delegate
from ..delegates.registry import DELEGATE_NAMES, find_delegate
from ..graph.graph import Graph
from ..model.schema import is_operator
from .log import DeviceLog, PluginLine, ReconcileError, Replacement
from .matching import OTHER_MODEL, matched_nodes
from .setting import flags_without_others
from .tables import RunOrder, Summary


@dataclass(frozen=True)
class Facts:
    """What the log says about one delegate. What is None, or has no key, is not known."""

    replacements: tuple[Replacement, ...] | None
    application: tuple[str, int | None] | None
    """How benchmark_model applied the delegate, and the number of kernels."""
    dynamic: int | None
    """The dynamic-sized tensor for which the graph was refused."""
    is_restored: bool
    driver_errors: tuple[str, ...]
    on_cpu: Mapping[int, frozenset[int]]
    """By subgraph, the nodes on the CPU, where the table is complete."""
    listed: Mapping[int, frozenset[int]]
    """By subgraph, the nodes that are known to have run on the CPU, where the table is not complete."""
    counts: Mapping[int, Mapping[str, int]]
    """By subgraph, how many nodes of each operator ran on the CPU, where only that is known."""
    kernels: Mapping[int, int]
    """By subgraph, the number of delegate kernels."""
    refusals: Mapping[tuple[str, int], int]
    """How many refusals were printed, by operator and version."""
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    plugins: tuple[PluginLine, ...] = ()
    """What a compiler plugin selected, where the delegate is one."""

    @property
    def evidence(self) -> str:
        """What tells which nodes ran on the CPU: ``run-order``, ``node-types``, ``partial`` or ``lines``."""
        if self.on_cpu:
            return "run-order"
        if self.counts:
            return "node-types"
        return "partial" if self.listed else "lines"


def facts_of(log: DeviceLog, delegate: Delegate, graphs: Sequence[Graph]) -> Facts:
    """Return what a log says about a delegate; raises ReconcileError if the log is not of these graphs."""
    own = tuple(each for each in log.replacements if each.kernel == delegate.kernel_name)
    applications = [each for each in log.applications if each.provider == delegate.provider_name]
    application = applications[-1] if applications else None
    tables = _TableFacts(log, delegate, graphs)
    for index, table in log.run_orders.items():
        tables.add_run_order(index, table)
    for index, summary in log.summaries.items():
        if index not in tables.on_cpu and index < len(graphs):
            tables.add_summary(index, summary)
    refusals: Counter[tuple[str, int]] = Counter()
    for refusal in log.refusals if delegate.log.prints_refusals else ():
        refusals[refusal.op, refusal.version] += refusal.times
    lines = [each.line for each in own] + ([application.line] if application else [])
    if delegate.is_plugin:
        if not log.plugins:
            raise ReconcileError(
                "the log has no line of a compiler plugin (Partitioned subgraph<0>, selected ...), an INFO of LiteRT"
            )
        lines = [each.line for each in log.plugins]
    return Facts(
        replacements=own if log.replacements and not delegate.is_plugin else None,
        application=(application.outcome, application.kernels) if application else None,
        dynamic=log.dynamic_tensor,
        is_restored=log.is_restored,
        driver_errors=log.driver_errors,
        on_cpu=tables.on_cpu,
        listed=tables.listed,
        counts=tables.counts,
        kernels=tables.kernels,
        refusals=refusals,
        lines=tuple(lines),
        notes=tuple(dict.fromkeys(tables.notes)),
        plugins=log.plugins if delegate.is_plugin else (),
    )


class _TableFacts:
    """Collects what the tables of operators say."""

    def __init__(self, log: DeviceLog, delegate: Delegate, graphs: Sequence[Graph]) -> None:
        self.graphs = graphs
        self.kernel = delegate.kernel_name
        self.other_kernels = {find_delegate(name).kernel_name for name in DELEGATE_NAMES} - {delegate.kernel_name}
        self.is_hiding = any(each.replaced and each.kernel in self.other_kernels for each in log.replacements)
        """Whether another delegate ran nodes, which the tables then do not list."""
        self.has_lost_events = log.lost_events
        flags = flags_without_others(delegate)
        self.hidden = (
            "another delegate ran nodes that this one left, so the tables do not list them; take the log "
            f"{f'with {flags}' if flags else 'with this delegate alone'}"
        )
        self.on_cpu: dict[int, frozenset[int]] = {}
        self.listed: dict[int, frozenset[int]] = {}
        self.counts: dict[int, Mapping[str, int]] = {}
        self.kernels: dict[int, int] = {}
        self.notes: list[str] = []

    def add_run_order(self, index: int, table: RunOrder) -> None:
        """Take the nodes of a table in running order."""
        if index >= len(self.graphs):
            raise ReconcileError(f"the log lists nodes of subgraph {index}, which the model does not have; {OTHER_MODEL}")
        rest = [row for row in table.rows if row.op != self.kernel]
        rows = [row for row in rest if row.op not in self.other_kernels and not row.outputs.startswith("Delegate/")]
        is_foreign = len(rows) < len(rest)
        nodes = matched_nodes(self.graphs[index], rows)
        if table.is_complete and not is_foreign and not self.is_hiding and not self.has_lost_events:
            self.on_cpu[index], self.kernels[index] = nodes, len(table.rows) - len(rest)
            return
        self.listed[index] = nodes
        if is_foreign or self.is_hiding:
            self.notes.append(self.hidden)
        else:
            self.notes.append(f"the table of subgraph {index} is cut short; nothing is known about nodes that it does not list")

    def add_summary(self, index: int, summary: Summary) -> None:
        """Take the counts of a summary by node type, if they are all of nodes of the graph."""
        graph = self.graphs[index]
        available = Counter(graph.nodes[node].op for node in graph.execution_plan)
        known = {self.kernel, *available}
        is_foreign = any(op in self.other_kernels or not (op in known or is_operator(op)) for op in summary.counts)
        if not summary.is_complete or self.is_hiding or is_foreign:
            note = self.hidden if summary.is_complete else f"the summary of subgraph {index} is cut short, and ignored"
            self.notes.append(note)
            return
        self.counts[index] = {op: count for op, count in summary.counts.items() if op != self.kernel}
        self.kernels[index] = summary.counts.get(self.kernel, 0)
        if any(count > available[op] for op, count in self.counts[index].items()):
            raise ReconcileError(f"the log's summary lists operators that subgraph {index} does not have; {OTHER_MODEL}")
