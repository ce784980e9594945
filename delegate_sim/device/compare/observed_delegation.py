"""The part of a log that can be compared with a simulation: the delegation of each subgraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...delegates.base import Delegate
from ...delegates.registry import DELEGATE_NAMES, find_delegate
from ...graph.graph import Graph
from ...model.schema import is_operator
from ..parse.applied_target import flags_without_others
from ..parse.delegate_identity import UNNAMED_KERNEL, delegate_named, is_of, names_of, plain_name
from ..parse.known_lines import (
    API_ERROR,
    BENCHMARK_FAILED,
    CRASH,
    KERNELS,
    LISTED_REFUSALS,
    NODE_ERROR,
    OWN_COUNT,
    SPLIT,
    Statement,
)
from ..parse.log_contents import DeviceLog, PluginLine, ReconcileError, Replacement
from ..parse.nnapi_vlog import NOTHING_COMPILED, RuntimeLog
from ..parse.operator_tables import RunOrder, Summary
from .row_matching import OTHER_MODEL, matched_nodes

OTHER_KERNEL = "DELEGATE "
"""What stands before a kernel of another delegate where operators are listed as refused."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the log says about one delegate. What is None, or has no key, is not known."""

    replacements: tuple[Replacement, ...] | None
    application: tuple[str, int | None] | None
    """How benchmark_model applied the delegate, and the number of kernels."""
    dynamic: int | None
    """The dynamic-sized tensor for which the graph was refused."""
    is_restored: bool
    driver_errors: tuple[str, ...]
    """Errors that a driver returned, and kernels of the delegate that failed to prepare or run."""
    on_cpu: Mapping[int, frozenset[int]]
    """By subgraph, the nodes on the CPU, where the table is complete."""
    listed: Mapping[int, frozenset[int]]
    """By subgraph, the nodes that are known to have run on the CPU, where the table is not complete."""
    counts: Mapping[int, Mapping[str, int]]
    """By subgraph, how many nodes of each operator ran on the CPU, where only that is known."""
    kernels: Mapping[int, int]
    """By subgraph, the number of delegate kernels."""
    failed_nodes: tuple[int, ...]
    """The delegate's kernels that could not be prepared, by the index that they have as nodes."""
    has_ended: bool
    """True if the benchmark ended before anything ran."""
    own_counts: tuple[tuple[int, int, int], ...]
    """What the delegate itself counts: nodes delegated, nodes in all, and partitions."""
    splits: tuple[tuple[int, int], ...]
    """Number of nodes the delegate says that it runs, and how many it leaves."""
    listed_refusals: tuple[tuple[str, str], ...]
    """The operators that the delegate lists as refused, with the reasons as printed."""
    refusals: Mapping[tuple[str, int], int]
    """Number of refusals were printed, by operator and version."""
    kernels_made: int | None
    """Number of kernels the delegate says that it made."""
    is_foreign: bool
    """True if the lines of the log are all of other delegates than this one."""
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    plugins: tuple[PluginLine, ...] = ()
    """What a compiler plugin selected, where the delegate is one."""
    runtime: RuntimeLog = NOTHING_COMPILED
    """What the runtime behind the delegate says that it chose."""

    @property
    def can_be_compared(self) -> bool:
        """True if anything that a delegate did is known at all."""
        return not self.is_foreign and bool(
            self.replacements is not None
            or self.application is not None
            or self.dynamic is not None
            or self.is_restored
            or self.on_cpu
            or self.listed
            or self.counts
            or self.refusals
            or self.own_counts
            or self.splits
            or self.kernels_made is not None
            or self.listed_refusals
            or self.plugins
        )

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
    own = tuple(each for each in log.replacements if is_of(delegate, each.kernel))
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
    said = [each.line for each in (*_own(log, delegate, OWN_COUNT, SPLIT, KERNELS),)]
    lines = [*said, *[each.line for each in own], *([application.line] if application else [])]
    if delegate.is_plugin:
        if not log.plugins:
            raise ReconcileError(
                "the log has no line of a compiler plugin (Partitioned subgraph<0>, selected ...), an INFO of LiteRT"
            )
        lines = [each.line for each in log.plugins]
    return Facts(
        replacements=None if delegate.is_plugin or _is_unknown(log, own) else own,
        application=(application.outcome, application.kernels) if application else None,
        dynamic=log.dynamic_tensor,
        is_restored=log.is_restored,
        driver_errors=tuple(
            [each.line for each in log.of(API_ERROR, NODE_ERROR) if each.kind == API_ERROR or is_of(delegate, each.values["op"])]
        ),
        failed_nodes=tuple([int(each.values["node"]) for each in log.of(NODE_ERROR) if is_of(delegate, each.values["op"])]),
        has_ended=bool(log.of(BENCHMARK_FAILED, CRASH)),
        own_counts=tuple([_numbers(each, "delegated", "total", "partitions") for each in _own(log, delegate, OWN_COUNT)]),
        splits=tuple([_numbers(each, "taken", "left") for each in _own(log, delegate, SPLIT)]),
        listed_refusals=log.listed_refusals if _own(log, delegate, LISTED_REFUSALS) else (),
        kernels_made=next((int(each.values["count"]) for each in reversed(_own(log, delegate, KERNELS))), None),
        on_cpu=tables.on_cpu,
        listed=tables.listed,
        counts=tables.counts,
        kernels=tables.kernels,
        refusals=refusals,
        is_foreign=not delegate.is_plugin and bool(log.replacements) and _is_unknown(log, own),
        lines=tuple(lines),
        notes=tuple(dict.fromkeys([*tables.notes, *_foreign(log, delegate, own)])),
        plugins=log.plugins if delegate.is_plugin else (),
        runtime=log.runtime if delegate.devices is not None else NOTHING_COMPILED,
    )


def _foreign(log: DeviceLog, delegate: Delegate, own: Sequence[Replacement]) -> Iterator[str]:
    """Return which other kernel the lines are of, if they are of none of the delegate's; a compiler plugin has no such lines."""
    if log.replacements and not delegate.is_plugin and _is_unknown(log, own):
        kernels = ", ".join(dict.fromkeys([each.kernel for each in log.replacements]))
        offered = [each for line in log.replacements if (each := delegate_named(line.kernel)) is not None]
        offered = [each for each in offered if not each.is_applied_by_default] or offered
        offer = f"; give --delegate {offered[0].name}" if offered else ""
        yield f"the lines of the log are of {kernels}, and none is of the delegate that is simulated{offer}"


def _is_unknown(log: DeviceLog, own: Sequence[Replacement]) -> bool:
    """Return whether no line tells how many nodes the delegate replaced.

    Lines of others do, if all of them are of delegates that the runtime applies to what this one leaves.
    """
    if own or not log.replacements:
        return not own
    others = [delegate_named(each.kernel) for each in log.replacements]
    return not all(each is not None and each.is_applied_by_default for each in others)


def _own(log: DeviceLog, delegate: Delegate, *kinds: str) -> tuple[Statement, ...]:
    """Return the statements in which the delegate speaks of itself."""
    names = names_of(log, delegate)
    return tuple([each for each in log.of(*kinds) if plain_name(each.values.get("name", "")) in names])


def _numbers(statement: Statement, *names: str) -> Any:
    return tuple([int(statement.values.get(name, "0")) for name in names])


class _TableFacts:
    """Collect what the tables of operators say."""

    def __init__(self, log: DeviceLog, delegate: Delegate, graphs: Sequence[Graph]) -> None:
        self.graphs = graphs
        self.own_kernels = {*delegate.kernel_names, UNNAMED_KERNEL}
        delegates = map(find_delegate, DELEGATE_NAMES)
        self.other_kernels = {name for each in delegates for name in each.kernel_names} - self.own_kernels
        self.is_hiding = any(each.replaced and each.kernel in self.other_kernels for each in log.replacements)
        """True if another delegate ran nodes, which the tables then do not list."""
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
        rest = [row for row in table.rows if row.op not in self.own_kernels]
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
        known = {*self.own_kernels, *available}
        is_foreign = any(op in self.other_kernels or not (op in known or is_operator(op)) for op in summary.counts)
        if not summary.is_complete or self.is_hiding or is_foreign:
            note = self.hidden if summary.is_complete else f"the summary of subgraph {index} is cut short, and ignored"
            self.notes.append(note)
            return
        self.counts[index] = {op: count for op, count in summary.counts.items() if op not in self.own_kernels}
        self.kernels[index] = sum([summary.counts.get(kernel, 0) for kernel in self.own_kernels])
        if any(count > available[op] for op, count in self.counts[index].items()):
            raise ReconcileError(f"the log's summary lists operators that subgraph {index} does not have; {OTHER_MODEL}")
