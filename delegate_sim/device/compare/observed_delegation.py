"""The facts in a log that can be compared with a simulation: the delegation of each subgraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...delegates.base import Delegate
from ...delegates.registry import DELEGATE_NAMES, find_delegate
from ...foundation.columns import Declared
from ...graph.calls import DELEGATE
from ...graph.graph import Graph
from ...model.schema import is_operator
from ...runtime.interpreter import Run
from ..parse.applied_target import flags_without_others
from ..parse.delegate_identity import (
    UNNAMED_KERNEL,
    delegate_named,
    has_hidden_kernels,
    has_inner_operators,
    names_of,
    statements_by,
    without_errors_of_others,
)
from ..parse.error_meanings import is_while_building, is_while_running
from ..parse.log import read_lines
from ..parse.log_contents import Count, DeviceLog, ReconcileError, Replacement
from ..parse.log_outcomes import CRASHED, FAILED
from ..parse.log_runs import kernels_before, npu_counts
from ..parse.log_summary import summary_of
from ..parse.tables import Event
from .row_matching import OTHER_MODEL, matched_nodes

_COUNTS = ("delegated", "total", "partitions")
OTHER_KERNEL = "DELEGATE "
"""Prefix of another delegate's kernel in a list of refused operators."""


@dataclass(slots=True)
class Facts:
    """The facts about one delegate in a log. If a value is None or a key is missing, the fact is not known."""

    log: DeviceLog
    replacements: tuple[Replacement, ...] | None
    application: tuple[str, int | None] | None
    """The outcome that benchmark_model prints for the delegate, and the number of kernels."""
    dynamic: int | None
    """Index of the dynamic-size tensor that made the delegate refuse the graph."""
    is_restored: bool
    driver_errors: tuple[str, ...]
    """Lines about errors of a driver, and about kernels that failed to prepare. Empty if Android's runtime refused the model."""
    failed_nodes: tuple[int, ...]
    own_counts: tuple[tuple[int, int, int], ...]
    """Numbers that the delegate printed: delegated nodes, all nodes, and partitions."""
    splits: tuple[tuple[int, int | None], ...]
    """Numbers that the delegate printed: delegated nodes and remaining nodes."""
    listed_refusals: tuple[tuple[str, str], ...]
    refusals: Mapping[tuple[str, int], int]
    refused_operators: Mapping[str, bool]
    """The operators in the delegate's lines about refusals. The value is true if a line has the operator's code."""
    unvisited: tuple[str, ...]
    """The exceptions after which the delegate refused a node."""
    kernels_made: int | None
    """Number of kernels that the delegate created, as printed by the delegate."""
    is_foreign: bool
    lines: tuple[str, ...]
    plugins: tuple[Count, ...]
    other_kernels: int | None
    """Number of kernels of earlier delegates among the nodes in the lines about replaced nodes, or None if it is not known."""
    failure: str
    """The line that says why the model did not run, or why the delegate was not applied. Empty if the log shows no failure."""
    on_cpu: dict[int, frozenset[int]] = field(default_factory=dict)
    """CPU nodes, keyed by subgraph, for subgraphs with a complete operator table."""
    listed: dict[int, frozenset[int]] = field(default_factory=dict)
    """Nodes that certainly ran on the CPU, keyed by subgraph, for subgraphs with an incomplete operator table."""
    counts: dict[int, Mapping[str, int]] = field(default_factory=dict)
    """Number of CPU nodes per operator, keyed by subgraph, if the log shows the counts, but not the nodes."""
    kernels: dict[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def was_not_applied(self) -> bool:
        """True if benchmark_model printed that it could not apply the delegate."""
        return self.application is not None and self.application[0] == "failed"

    @property
    def has_failed(self) -> bool:
        """True if the log shows that the delegate was not applied, or that the model did not run."""
        return bool(self.failure) or self.is_restored or self.was_not_applied

    @property
    def can_be_compared(self) -> bool:
        """True if the log shows a fact about the delegate. False if every line about replaced nodes is another delegate's."""
        numbers = (self.replacements, self.application, self.dynamic, self.kernels_made)
        tables = (self.on_cpu, self.listed, self.counts)
        printed = (self.own_counts, self.splits, self.driver_errors, self.plugins)
        refused = (self.refusals, self.refused_operators, self.unvisited, self.listed_refusals)
        is_shown = self.is_restored or any((*tables, *printed, *refused)) or any(number is not None for number in numbers)
        return not self.is_foreign and is_shown

    @property
    def line_totals(self) -> list[int]:
        """The numbers of nodes in the lines about replaced nodes that have one."""
        return [line.total for line in self.replacements or () if line.total is not None]

    @property
    def own_totals(self) -> list[int]:
        """The numbers of nodes that the delegate printed. It may count kernels of earlier delegates as nodes."""
        return [total for _, total, _ in self.own_counts] + [taken + rest for taken, rest in self.splits if rest is not None]

    @property
    def evidence(self) -> str:
        """The kind of log lines that show the CPU nodes: ``run-order``, ``node-types``, ``partial`` or ``lines``."""
        if self.on_cpu:
            return "run-order"
        if self.counts:
            return "node-types"
        return "partial" if self.listed else "lines"


def shows_refusal(log: DeviceLog, run: Run) -> bool:
    """Return whether the log has an error line with which the simulated model or delegate fails."""
    return run.refusal is not None and any(error.line in run.log_lines for error in log.errors)


def facts_of(log: DeviceLog, delegate: Delegate, graphs: Sequence[Graph]) -> Facts:
    """Return the facts about a delegate in a log. Raises ReconcileError if the log does not fit the graphs or the delegate."""
    pairs = [(line, kernels) for line, kernels in kernels_before(log) if line.kernel in delegate.kernel_names]
    own, others = tuple([line for line, _ in pairs]), [kernels for _, kernels in pairs]
    applications = [application for application in log.applications if application.provider == delegate.provider_name][-1:]
    names = names_of(log, delegate)
    own_log = without_errors_of_others(log, names, is_certain=False)
    refusals: Counter[tuple[str, int]] = Counter()
    for (op, version, _), times in log.refusals.items() if delegate.log.prints_refusals else ():
        refusals[op, version] += times
    npu = tuple(npu_counts(log, names))
    plugins = log.plugins if delegate.log.prints_selection else ()
    if delegate.log.prints_selection and not plugins:
        raise ReconcileError(
            "the log has no line of a compiler plugin (Partitioned subgraph<0>, selected ...); record LiteRT's INFO lines too"
        )
    printed = [line.line for line in statements_by(log, names, Event.OWN_COUNT, Event.SPLIT, Event.KERNELS)]
    printed += [line.line for line in own] + [line.line for line in applications] + [count.line for count in npu]
    is_unknown = _is_unknown(log, own)
    is_foreign = not plugins and bool(log.replacements) and is_unknown
    errors = log.statements_of(Event.API_ERROR, Event.NODE_ERROR)
    failures = [error for error in errors if error.kind == Event.API_ERROR or error.values["op"] in delegate.kernel_names]
    made = _numbers(log, names, Event.KERNELS, "count")
    late, early = ([error for error in failures if is_while_running(error) == is_late] for is_late in (True, False))
    failed = [error.line for error in late if error.kind == Event.NODE_ERROR]
    failed_running = [f"the delegate was applied, but failed while the model ran: {line}" for line in failed]
    unvisited = tuple([line.values["unvisited"] for line in log.statements_of(Event.OTHER_ERROR) if "unvisited" in line.values])
    facts = Facts(
        log=log,
        replacements=None if plugins or is_unknown else own,
        application=next(((application.outcome, application.kernels) for application in applications), None),
        dynamic=own_log.dynamic_tensor,
        is_restored=own_log.has(Event.RESTORED),
        driver_errors=() if any(map(is_while_building, early)) else tuple([statement.line for statement in early]),
        failed_nodes=tuple([int(statement.values["node"]) for statement in early if statement.kind == Event.NODE_ERROR]),
        # Old releases print no partitions.
        own_counts=tuple([own for own in _numbers(log, names, Event.OWN_COUNT, *_COUNTS) if own[2] or not own[0]]),
        splits=(
            *_numbers(log, names, Event.SPLIT, "taken", "left"),
            *[(count.delegated, count.on_cpu) for count in npu if count.delegated is not None],
        ),
        unvisited=unvisited if delegate.log.prints_refusals else (),
        refused_operators=refused_operators(log, delegate) if delegate.log.prints_refusals else {},
        listed_refusals=log.listed_refusals if statements_by(log, names, Event.LISTED_REFUSALS) else (),
        kernels_made=made[-1][0] if made else npu[-1].kernels if npu else None,
        refusals=refusals,
        is_foreign=is_foreign,
        lines=tuple([plugin.line for plugin in plugins] or printed),
        plugins=plugins,
        other_kernels=None if None in others else sum(filter(None, others)),
        failure="" if plugins else _failure(log, delegate),
    )
    notes = [*_add_tables(facts, delegate, graphs), *([_foreign_note(log)] if is_foreign else []), *failed_running]
    facts.notes = tuple(dict.fromkeys(notes))
    return facts


def refused_operators(log: DeviceLog, delegate: Delegate) -> dict[str, bool]:
    """Return the operators in the lines about refusals of a delegate, and whether a line has the operator's code."""
    operators: dict[str, bool] = {}
    for statement in statements_by(log, names_of(log, delegate), Event.OPERATOR_REFUSED):
        if op := statement.values.get("op"):
            operators[op] = "code" in statement.values or operators.get(op, False)
    return operators


def _failure(log: DeviceLog, delegate: Delegate) -> str:
    ends = [statement.line for statement in log.statements_of(Event.CRASH, Event.LOAD_ERROR)]
    summary = summary_of(log)
    own = [mentioned for mentioned in (summary.delegate, *summary.others) if mentioned.name == delegate.name]
    if not ends and not any(mentioned.failed_running or mentioned.outcome in (FAILED, CRASHED) for mentioned in own):
        return ""
    return next(filter(None, [summary.cause, *ends, *[error.line for error in summary.errors]]), "")


def _foreign_note(log: DeviceLog) -> str:
    kernels = dict.fromkeys([replacement.kernel for replacement in log.replacements])
    named = list(filter(None, map(delegate_named, kernels)))
    offered = [delegate for delegate in named if not delegate.is_applied_by_default] or named
    offer = f"; give --delegate {offered[0].name}" if offered else ""
    return f"the log has lines of {', '.join(kernels)}, but no line of the simulated delegate{offer}"


def _is_unknown(log: DeviceLog, own: Sequence[Replacement]) -> bool:
    """Return whether the number of replaced nodes is not shown. It is zero if only delegates applied by default have lines."""
    if own or not log.replacements:
        return not own
    others = [delegate_named(replacement.kernel) for replacement in log.replacements]
    return not all(other is not None and other.is_applied_by_default for other in others)


def _numbers(log: DeviceLog, names: set[str], kind: str, *keys: str) -> tuple[Any, ...]:
    return tuple([statement.numbers(*keys) for statement in statements_by(log, names, kind)])


def _add_tables(facts: Facts, delegate: Delegate, graphs: Sequence[Graph]) -> list[str]:
    """Add the CPU nodes, their counts and the numbers of kernels in operator tables. Return notes on incomplete tables."""
    log, notes = facts.log, list[str]()
    own = {*delegate.kernel_names, UNNAMED_KERNEL}
    others = {name for other in map(find_delegate, DELEGATE_NAMES) for name in other.kernel_names} - own
    # If another delegate ran nodes, the tables do not list them.
    hides_nodes = has_inner_operators(log) and not delegate.is_applied_by_default
    hides_nodes |= any(line.replaced and line.kernel in others for line in log.replacements)
    shows_kernels, flags = not has_hidden_kernels(log), flags_without_others(delegate)
    hidden = (
        "another delegate ran the nodes that this delegate left, so the log's tables do not list these nodes; record the log "
    )
    hidden += f"with {flags}" if flags else "with this delegate alone"
    for index, table in log.run_orders.items():
        if index >= len(graphs):
            raise ReconcileError(f"the log lists nodes of subgraph {index}, but the model has no such subgraph; {OTHER_MODEL}")
        rest = [row for row in table.rows if row.op not in own]
        rows = [row for row in rest if row.op not in others and not row.outputs.startswith("Delegate/")]
        is_hidden = len(rows) < len(rest) or hides_nodes
        nodes = matched_nodes(graphs[index], rows)
        if table.is_complete and not is_hidden and not log.lost_events:
            facts.on_cpu[index] = nodes
            facts.kernels |= {index: len(table.rows) - len(rest)} if shows_kernels else {}
            continue
        facts.listed[index] = nodes
        cut = f"the log's table of subgraph {index} is cut short; nothing is known about the missing nodes"
        notes.append(hidden if is_hidden else cut)
    for index, summary in log.summaries.items():
        if index in facts.on_cpu or index >= len(graphs):
            continue
        available = Counter(graphs[index].nodes[node].op for node in graphs[index].execution_plan)
        known = {*own, *available}
        is_foreign = any(op in others or not (op in known or is_operator(op)) for op in summary.counts)
        if not summary.is_complete or hides_nodes or is_foreign:
            notes.append(hidden if summary.is_complete else f"the summary of subgraph {index} is cut short, so it is ignored")
            continue
        facts.counts[index] = {op: count for op, count in summary.counts.items() if op not in own}
        facts.kernels |= {index: sum([summary.counts.get(kernel, 0) for kernel in own])} if shows_kernels else {}
        if any(count > available[op] for op, count in facts.counts[index].items()):
            raise ReconcileError(f"the log's summary lists operators that subgraph {index} does not have; {OTHER_MODEL}")
    return notes


@dataclass(frozen=True, slots=True)
class Tally(Declared):
    """Log lines and counts from the device or from the simulation, over all subgraphs. Unknown counts are None."""

    lines: tuple[str, ...]
    delegated: int | None
    partitions: int | None
    kernels: int | None
    on_cpu: int | None


def simulated_tally(run: Run) -> Tally:
    """Return the lines and counts of the simulation."""
    if run.delegate.log.prints_selection:
        return _plugin_tally(run.log_lines, read_lines(run.log_lines).plugins)
    delegated = sum([len(subgraph.delegated - subgraph.taken) for subgraph in run.subgraphs])
    return Tally(
        run.log_lines,
        delegated,
        sum([len(subgraph.subsets) for subgraph in run.subgraphs]),
        sum([subset.is_delegated for subgraph in run.subgraphs for subset in subgraph.subsets]),
        _node_count(run) - delegated,
    )


def device_tally(facts: Facts, run: Run) -> Tally:
    """Return the lines and counts in the log. The number of nodes comes from the simulation if the log has no other number."""
    nodes = _node_count(run)
    if facts.plugins:
        return _plugin_tally(facts.lines, facts.plugins)
    has_ended = facts.log.has(Event.BENCHMARK_FAILED, Event.CRASH)
    has_ended &= facts.is_restored or facts.application is None or facts.was_not_applied
    if has_ended or facts.is_restored or facts.dynamic is not None:
        return Tally(facts.lines, 0, 0, 0, 0 if has_ended else nodes)
    with_nodes = [subgraph.graph.index for subgraph in run.subgraphs if subgraph.graph.execution_plan]
    on_cpu = None
    if all(index in facts.on_cpu or index in facts.counts for index in with_nodes):
        on_cpu = sum(map(len, facts.on_cpu.values())) + sum(sum(counts.values()) for counts in facts.counts.values())
    kernels = sum(facts.kernels.values()) if facts.kernels else facts.kernels_made
    if kernels is None and facts.application is not None:
        kernels = facts.application[1]
    if facts.replacements is not None:
        lines = facts.replacements
        delegated = sum([line.replaced for line in lines])
        partitions = None if any(line.partitions is None for line in lines) else sum([line.partitions or 0 for line in lines])
        totals = facts.line_totals
        if len(totals) == len(lines) and not graph_sizes(run).issuperset(totals):
            nodes = sum(totals) - (facts.other_kernels or 0)  # the log belongs to another model
        rest = nodes - delegated if delegated <= nodes and facts.other_kernels is not None else None
        return Tally(facts.lines, delegated, partitions, kernels, rest if on_cpu is None else on_cpu)
    if on_cpu is None and facts.own_counts:
        delegated, total, _ = facts.own_counts[-1]
        return Tally(facts.lines, delegated, None, kernels, total - delegated if delegated <= total else None)
    if on_cpu is None and facts.splits:
        delegated, left = facts.splits[-1]
        return Tally(facts.lines, delegated, None, kernels, left)
    return Tally(facts.lines, None if on_cpu is None else nodes - on_cpu, None, kernels, on_cpu)


def _plugin_tally(lines: tuple[str, ...], plugins: Sequence[Count]) -> Tally:
    """Return the counts of a compiler plugin. Compiled partitions become kernels only on the device."""
    selected = sum([plugin.delegated or 0 for plugin in plugins])
    left = sum([plugin.total or 0 for plugin in plugins]) - selected
    return Tally(lines, selected, sum([plugin.partitions or 0 for plugin in plugins]), None, left)


def graph_sizes(run: Run) -> set[int]:
    """Return the numbers of nodes in the subgraphs of a simulation."""
    return {len(subgraph.graph.execution_plan) for subgraph in run.subgraphs}


def _node_count(run: Run) -> int:
    """Return the number of the model's own nodes, without those in bodies of delegated composites, which no log counts."""
    graphs = [subgraph.graph for subgraph in run.subgraphs if not subgraph.taken]
    return sum([graph.nodes[index].builtin_code != DELEGATE for graph in graphs for index in graph.execution_plan])
