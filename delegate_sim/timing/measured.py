"""The times of an op profile, matched with the nodes and delegate kernels of a simulation, as plain data."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from ..delegates.options import parse_options
from ..delegates.registry import APPLIED_BY_DEFAULT, find_delegate
from ..device.compare.row_matching import without_commas
from ..device.parse.delegate_identity import UNNAMED_KERNEL, delegate_named, has_hidden_kernels
from ..device.parse.log import read_runs_file
from ..device.parse.log_contents import DeviceLog, LogError, TimesOnlyError, has_times
from ..device.parse.operator_tables import Row, RowTime, RunTimes
from ..foundation.columns import INTEGER, LIST, NUMBER, OBJECT, Column, Declared, attributes, entry, within
from ..foundation.printable import printable
from ..graph.calls import DELEGATE
from ..graph.graph import Graph
from ..hypothetical.hypothetical_changes import NodeKey
from ..model.model import Model
from ..results.report.display import TimeRow, TimeTotals
from ..results.report.placement import RunPartition, partitions
from ..runtime.interpreter import Run, SubgraphRun, simulate, simulate_chain
from ..runtime.target import Target

KERNEL, NODE, UNMATCHED = "kernel", "node", "unmatched"

_MS = Column("ms", NUMBER, unit="ms", digits=6)
_CALLS = Column("times_called", INTEGER, source="calls")
_ROW = (Column("first_ms", NUMBER, unit="ms"), Column("memory_kb", NUMBER, unit="KiB"), _CALLS)


@dataclass(frozen=True, slots=True)
class MeasuredPart(Declared):
    """The time of one row of a profile in one inference, and its nodes: none if nothing matches, for the reason ``why``."""

    columns = (*attributes("kind", "op", "name"), _MS, Column("count", INTEGER), Column("nodes", LIST))

    kind: str
    op: str
    """The operator, or the name of the delegate."""
    name: str
    ms: float
    count: int
    nodes: tuple[NodeKey, ...]
    kernels: tuple[tuple[NodeKey, ...], ...] = ()
    row: RowTime | None = None
    """The numbers of the row. None if the part has several nodes or kernels."""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain data, with the numbers of the row if it is of a single node or kernel."""
        row = {} if self.row is None else entry(_ROW, self.row)
        return {**super(MeasuredPart, self).to_dict(), **row, **({"why": self.why} if self.why else {})}


@dataclass(frozen=True, slots=True)
class InnerOperator:
    """An operator inside a delegate kernel. ``node`` is None if the profile does not show the operator's node."""

    name: str
    ms: float
    node: NodeKey | None


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """The time of all kernels of a delegate, all CPU nodes of an operator, or all unmatched rows."""

    kind: str
    op: str
    count: int
    ms: float

    @property
    def words(self) -> str:
        """The group in words. The name of the operator may be unescaped."""
        return {KERNEL: f"{self.op} kernels", NODE: f"{self.op} on the CPU", UNMATCHED: "not matched"}[self.kind]


@dataclass(frozen=True, slots=True)
class Timing(Declared):
    """The parts of the time of one profiled run."""

    columns = (
        *(Column("profile", source="path"), Column("delegates", LIST)),
        *[Column(key, NUMBER, unit="ms", digits=6) for key in ("total_ms", "outside_ms")],
        *within("times", [Column("init_ms", NUMBER), Column("first_inference_ms", NUMBER, source="first_ms")]),
        *within("times", attributes("warmup_ms", "inference_ms", type=NUMBER)),
        Column("groups", LIST, parts=(*attributes("kind", "op"), Column("count", INTEGER), _MS)),
        *attributes("parts", "nested", type=LIST),
        Column("inside_kernels", LIST, source="inner", parts=(Column("name"), _MS, Column("node", OBJECT))),
        Column("notes", LIST),
    )

    path: str
    delegates: tuple[str, ...]
    parts: tuple[MeasuredPart, ...]
    """The parts that run one after another in one inference."""
    nested: tuple[MeasuredPart, ...]
    """The nodes of other subgraphs. Their time is included in the time of the calling node."""
    inner: tuple[InnerOperator, ...]
    times: RunTimes
    notes: tuple[str, ...] = ()

    @property
    def total_ms(self) -> float:
        """The time of all parts, in milliseconds."""
        return sum([part.ms for part in self.parts])

    def ms_of(self, kind: str) -> float:
        """Return the time of all parts of a kind, in milliseconds."""
        return sum([part.ms for part in self.parts if part.kind == kind])

    @property
    def node_parts(self) -> list[MeasuredPart]:
        """The parts of nodes on the CPU, of all subgraphs."""
        return [part for part in (*self.parts, *self.nested) if part.kind == NODE]

    @property
    def kernel_count(self) -> int:
        """The number of delegate kernels."""
        return sum([part.count for part in self.parts if part.kind == KERNEL])

    @property
    def outside_ms(self) -> float | None:
        """The part of an inference's time that is in no row, for example for copying data. None if it is not known."""
        inference = self.times.inference_ms
        return None if inference is None or not self.parts else max(inference - self.total_ms, 0.0)

    @property
    def groups(self) -> tuple[TimeGroup, ...]:
        """The kernels by delegate, then the CPU nodes by operator, then the unmatched rows, longest first."""
        counts: Counter[tuple[str, str]] = Counter()
        times: dict[tuple[str, str], float] = defaultdict(float)
        for part in self.parts:
            key = part.kind, "" if part.kind == UNMATCHED else part.op
            counts[key] += part.count
            times[key] += part.ms
        groups = [TimeGroup(*key, counts[key], ms) for key, ms in times.items()]
        order = (KERNEL, NODE, UNMATCHED)
        return tuple(sorted(groups, key=lambda group: (order.index(group.kind), -group.ms, group.op)))

    @property
    def totals(self) -> TimeTotals:
        """The total time, and the time of each kind of part."""
        return TimeTotals(self.path, *[round(ms, 6) for ms in (self.total_ms, *map(self.ms_of, (KERNEL, NODE, UNMATCHED)))])

    def rows(self) -> Iterator[TimeRow]:
        """Yield the groups, for tables."""
        for group in self.groups:
            share = round(group.ms / self.total_ms, 6) if self.total_ms else None
            yield TimeRow(self.path, group.words, group.count, round(group.ms, 6), share)


@dataclass(frozen=True, slots=True)
class CpuTime:
    """The measured CPU time of some nodes. ``unknown`` is the number of nodes without a time of their own."""

    ms: float
    unknown: int

    @property
    def is_known(self) -> bool:
        """True if every node has a time."""
        return not self.unknown


def cpu_time(timings: Sequence[Timing], nodes: Collection[NodeKey]) -> CpuTime:
    """Return the CPU time of nodes in the first timing that has some. The time of a row with further nodes is not divided."""
    wanted = set(nodes)
    for timing in timings:
        parts = [part for part in timing.node_parts if wanted.issuperset(part.nodes)]
        if known := {key for part in parts for key in part.nodes}:
            return CpuTime(sum([part.ms for part in parts]), len(wanted - known))
    return CpuTime(0.0, len(wanted))


def node_times(timings: Sequence[Timing]) -> Mapping[NodeKey, float]:
    """Return the CPU time of each node that has a row of its own, in milliseconds."""
    parts = [part for timing in timings for part in timing.node_parts if len(part.nodes) == 1]
    return {part.nodes[0]: part.ms for part in reversed(parts)}  # the first time of a node counts


def kernel_times(timings: Sequence[Timing], delegate: str) -> Iterator[tuple[frozenset[NodeKey], float]]:
    """Yield the nodes and the time in milliseconds of each kernel of a delegate that has a row of its own."""
    for timing in timings:
        for part in timing.parts:
            if part.kind == KERNEL and part.op == delegate and len(part.kernels) == 1:
                yield frozenset(part.kernels[0]), part.ms


def kernel_costs(run: Run, timing: Timing) -> Iterator[tuple[RunPartition, float | None]]:
    """Yield each kernel of a run with its time, in execution order. The time is None if the kernel has no row of its own."""
    times = dict(kernel_times([timing], run.delegate.name))
    for kernel in partitions([run]):
        if kernel.is_delegated:
            yield kernel, times.get(frozenset([NodeKey(kernel.subgraph, node) for node in kernel.nodes]))


def total_notes(log: DeviceLog, subgraph: int, ms: float) -> Iterator[str]:
    """Yield notes on missing rows, and on a total that differs from ``ms``, the sum of a subgraph's rows."""
    order, summary = log.run_orders.get(subgraph), log.summaries.get(subgraph)
    rows = 0 if order is None else len(order.rows)
    if order is not None and order.lacks_rows:
        yield "the table lacks rows: its cumulative percentages do not add up"
    elif order is not None and order.is_timed and not order.is_complete:
        yield "the table is cut short"
    if summary is not None and summary.lacks_rows:
        yield "the summary lacks rows: its percentages do not add up to 100"
    expected = log.times.profiled_ms
    if expected is not None and abs(expected - ms) > max(0.01 * expected, 0.001 * max(rows, 1)):
        yield f"the rows add up to {ms:,.3f} ms, but the profile's own total is {expected:,.3f} ms"
    if log.lost_events:
        yield "the profiler dropped events because its buffer was full (--max_profiling_buffer_entries), so times are missing"


def milliseconds(ms: float) -> str:
    """Return a time as text."""
    return f"{ms:,.3f} ms" if abs(ms) < 10 else f"{ms:,.1f} ms"  # three digits are enough


def share_of_time(ms: float, total_ms: float) -> str:
    """Return a share of a total as a percentage. Return a dash if the total is 0."""
    return f"{100 * ms / total_ms:.1f} %" if total_ms else "-"


def timing_sentence(timing: Timing) -> str:
    """Return a sentence about the parts of a profile's time. Names may be unescaped."""
    inference, total_ms = timing.times.inference_ms, timing.total_ms
    if not timing.parts:
        taken = "" if inference is None else f"; an inference takes {milliseconds(inference)}"
        return f"{timing.path} has no times of nodes{taken}"
    groups = sorted(timing.groups, key=lambda group: -group.ms)
    named = [(group.words, group.ms) for group in groups[:5]]
    named += [(f"{len(groups) - 5:,} more", sum([group.ms for group in groups[5:]]))] if len(groups) > 5 else []
    shown = [f"{name} {milliseconds(ms)}{f' ({share_of_time(ms, total_ms)})' if total_ms else ''}" for name, ms in named]
    return f"measured in {timing.path}: {milliseconds(total_ms)}; {', '.join(shown)}"


@dataclass(frozen=True, slots=True)
class OpProfile:
    """The log of the profiled run. ``notes`` describes what is missing in the file."""

    path: str
    log: DeviceLog
    notes: tuple[str, ...] = ()


def read_op_profile(path: str) -> OpProfile:
    """Read the last profile in a file of any format that ``reconcile`` reads. Raises LogError if a file has no times."""
    try:
        runs = read_runs_file(path)
    except TimesOnlyError as error:
        return OpProfile(path, DeviceLog(times=error.times), ("the file has only the times of the whole run, not of nodes",))
    profiled = [log for log in runs if has_times(log)]
    if not profiled:
        missing = "has no table with the times of nodes; run benchmark_model with --enable_op_profiling=true"
        raise LogError(printable(f"{path}: {missing}"))
    notes = (f"the file has the profiles of {len(profiled)} runs; the last one is used",) if len(profiled) > 1 else ()
    return OpProfile(path, profiled[-1], notes)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of the plan: a delegate kernel, or a CPU node."""

    subgraph: int
    index: int
    """The index of the node or kernel in the runtime's graph."""
    op: str
    """The operator of the node. For a kernel, the name of the delegate."""
    nodes: tuple[int, ...]
    outputs: str
    """The names of the outputs, as the profiler prints them, but without commas."""
    is_kernel: bool

    @property
    def key(self) -> tuple[bool, str]:
        """Whether the step is a kernel, and the name of its delegate or operator."""
        return self.is_kernel, self.op

    @property
    def keys(self) -> tuple[NodeKey, ...]:
        """The nodes of the step in the model."""
        return tuple([NodeKey(self.subgraph, node) for node in self.nodes])


@dataclass(frozen=True, slots=True)
class TimedPlan:
    """The steps of each subgraph, in execution order, and the graphs of the model."""

    steps: tuple[tuple[PlannedStep, ...], ...]
    graphs: tuple[Graph, ...]
    delegates: tuple[str, ...]


def kernel_delegate(op: str, target: Target) -> str | None:
    """Return the delegate of a kernel's row, empty if it is not known, or None if the row shows an operator."""
    if op == UNNAMED_KERNEL or op in target.delegate.kernel_names:
        return target.delegate.name
    if "delegate" not in op.casefold() and not op.startswith("LITERT_"):
        return None
    named = delegate_named(op)
    return "" if named is None else named.name


def delegates_in(log: DeviceLog, target: Target) -> tuple[str, ...]:
    """Return the names of the delegates with kernels in a profile, in the order in which the runtime applies them."""
    ops = [row.op for index in sorted(log.run_orders) for row in log.run_orders[index].rows]
    ops += [row.op for index in sorted(log.slowest) for row in log.slowest[index]]
    ops += [op for index in sorted(log.summaries) for op in log.summaries[index].counts]
    names = dict.fromkeys([name for op in dict.fromkeys(ops) if (name := kernel_delegate(op, target))])
    names |= {APPLIED_BY_DEFAULT: None} if has_hidden_kernels(log) else {}
    return tuple(sorted(names, key=lambda name: name == APPLIED_BY_DEFAULT))


def plan_of(model: Model, log: DeviceLog, target: Target) -> TimedPlan:
    """Return the plan of a profiled run in the release of ``target``: its delegates, with default options but for ``target``."""
    names = delegates_in(log, target)
    targets = []
    for name in names:
        delegate = find_delegate(name)
        options = parse_options(name, delegate.options, {}, target.defaults)
        own = name == target.delegate.name
        targets.append(target if own else target._replace(delegate=delegate, options=options))
    runs = simulate_chain(model, targets) if names else [simulate(model, target)]
    graphs = tuple([subgraph.graph for subgraph in runs[0].subgraphs])
    on_cpu = [[node_step(graph, node) for node in graph.execution_plan] for graph in graphs]
    steps = [_steps(runs, index) for index in range(len(graphs))] if names else on_cpu
    return TimedPlan(tuple(map(tuple, steps)), graphs, names)


def node_step(graph: Graph, index: int) -> PlannedStep:
    """Return the step of a CPU node."""
    node = graph.nodes[index]
    return PlannedStep(graph.index, index, node.op, (index,), _names(graph, node.outputs), False)


def _names(graph: Graph, tensors: Sequence[int]) -> str:
    names = [graph.tensors[index].name if 0 <= index < len(graph.tensors) else "Unknown" for index in tensors]
    return without_commas(" ".join(names))


def _steps(runs: Sequence[Run], subgraph: int) -> Iterator[PlannedStep]:
    kernels = {step.index: step for run in runs for step in _kernels(run, run.subgraphs[subgraph])}
    last, first = runs[-1].subgraphs[subgraph], runs[0].subgraphs[subgraph].graph
    number = count(_first_kernel(last))
    plan = [[next(number)] if subset.is_delegated else subset.nodes for subset in last.plan] or [last.graph.execution_plan]
    for index in chain.from_iterable(plan):
        if index in kernels:
            yield kernels[index]
        elif index < len(first.nodes) and first.nodes[index].builtin_code != DELEGATE:
            yield node_step(first, index)


def _first_kernel(run: SubgraphRun) -> int:
    """Return the index of the first kernel. The runtime numbers kernels after the nodes of the graph."""
    return len(run.graph.nodes if run.decision is None else run.decision.graph.nodes)


def _kernels(run: Run, subgraph: SubgraphRun) -> Iterator[PlannedStep]:
    origins = {} if subgraph.decision is None else subgraph.decision.origins
    graph = subgraph.graph if subgraph.decision is None else subgraph.decision.graph
    taken = [subset for subset in subgraph.plan if subset.is_delegated]
    for index, subset in enumerate(taken, _first_kernel(subgraph)):
        nodes = tuple(dict.fromkeys([origins.get(node, node) for node in subset.nodes]))
        name = run.delegate.name
        yield PlannedStep(subgraph.graph.index, index, name, nodes, _names(graph, subset.outputs), True)


INNER = "Delegate/"
"""The name of a row begins with this text if the row is part of a delegate kernel."""


def inner_operators(rows: Sequence[Row], plan: TimedPlan) -> tuple[InnerOperator, ...]:
    """Return the operators inside kernels. A node is known only if one kernel has all nodes of the operator's type."""
    timed = [(row.outputs.removeprefix(INNER), row.time.ms) for row in rows if row.time is not None]
    nodes = _nodes([name for name, _ in timed], plan)
    return tuple([InnerOperator(name, ms, nodes.get(number)) for number, (name, ms) in enumerate(timed)])


def _nodes(names: Sequence[str], plan: TimedPlan) -> dict[int, NodeKey]:
    """Return the nodes of operators by number. If a type has as many rows as nodes, both are in the same order."""
    kernels = [step for steps in plan.steps for step in steps if step.is_kernel]
    matched: dict[int, NodeKey] = {}
    for delegate in dict.fromkeys([kernel.op for kernel in kernels]):
        numbers: dict[str, list[int]] = {}
        for number, name in enumerate(names):
            if op := find_delegate(delegate).profiled_operator(name):
                numbers.setdefault(op, []).append(number)
        for op, own in numbers.items():
            keys = [kernel.keys for kernel in kernels if kernel.op == delegate]
            nodes = [[key for key in kernel if plan.graphs[key.subgraph].nodes[key.node].op == op] for kernel in keys]
            groups = [group for group in nodes if group]
            if len(groups) == 1 and len(groups[0]) == len(own):
                matched |= dict(zip(own, groups[0], strict=True))
    return matched
