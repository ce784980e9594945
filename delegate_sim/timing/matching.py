"""Match the rows of an op profile with the nodes and delegate kernels of a simulated plan.

An unmatched row is kept with its time. The time of a row is never divided among nodes.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from ..delegates.registry import APPLIED_BY_DEFAULT
from ..device.compare.row_matching import OTHER_MODEL, without_commas
from ..device.parse.delegate_identity import has_hidden_kernels
from ..device.parse.log_contents import DeviceLog, ReconcileError
from ..device.parse.operator_tables import Row, Summary
from ..foundation.printable import and_list, counted, printable, shortened
from ..graph.graph import Graph
from ..hypothetical.hypothetical_changes import NodeKey
from ..model.model import Model
from ..model.schema import is_operator
from ..runtime.target import Target
from .measured import (
    INNER,
    KERNEL,
    NODE,
    UNMATCHED,
    MeasuredPart,
    OpProfile,
    PlannedStep,
    TimedPlan,
    Timing,
    delegates_in,
    inner_operators,
    kernel_delegate,
    node_step,
    plan_of,
    read_op_profile,
    total_notes,
)

_CUT = 20
_NO_NODE = "the simulation has no such node here"
_NO_KERNEL = "the simulation has no such delegate kernel here"
_NOT_SIMULATED = "a delegate that is not simulated"
_OTHER_NODES = "the simulation has no kernel with the same nodes"
_OTHER_CPU_NODES = "the profile has other nodes on the CPU than the simulation"


class WrongProfileError(ReconcileError):
    """Raised if a profile belongs to another model."""


def match_log(path: str, model: Model, log: DeviceLog, target: Target) -> Timing | None:
    """Match the times of a log with its model. Return None if the times belong to another model."""
    try:
        return match_profile(OpProfile(path, log), model, target)
    except WrongProfileError:
        return None


def match_profile(profile: OpProfile, model: Model, target: Target) -> Timing:
    """Match a profile with the plan of a simulation. Raises WrongProfileError if the profile belongs to another model."""
    log = profile.log
    plan = plan_of(model, log, target)
    tables = [*log.run_orders, *log.slowest, *log.summaries]
    strange = [index for index in tables if not 0 <= index < len(plan.graphs)]
    if strange:
        raise _wrong(profile, f"lists nodes of subgraph {max(strange)}, but the model has no such subgraph")
    matched = {index: list(_subgraph_parts(profile, index, plan, target)) for index in sorted(set(tables))}
    first, main = next(((index, parts) for index, parts in matched.items() if parts), (0, []))
    _refuse_if_nothing_matches(profile, main)
    nested = [part for parts in matched.values() if parts is not main for part in parts]
    main = [*_hidden_kernels(log, plan, first), *main]
    notes = [*profile.notes, *total_notes(log, min(tables, default=0), sum([part.ms for part in main]))]
    notes += _differences(profile, main, plan, first)
    inner = inner_operators(log.inner_rows, plan)
    return Timing(profile.path, plan.delegates, tuple(main), tuple(nested), inner, log.times, tuple(dict.fromkeys(notes)))


def _wrong(profile: OpProfile, text: str) -> WrongProfileError:
    return WrongProfileError(printable(f"{profile.path}: the profile {text}; {OTHER_MODEL.replace('log', 'profile')}"))


def _subgraph_parts(profile: OpProfile, index: int, plan: TimedPlan, target: Target) -> Iterator[MeasuredPart]:
    """Return the parts of one subgraph. They come from the best table: the rows in order, the summary, or the slowest rows."""
    log = profile.log
    order, summary = log.run_orders.get(index), log.summaries.get(index)
    has_summary = summary is not None and bool(summary.times)
    if order is not None and order.is_timed and (order.is_complete or not has_summary):
        return _Matcher(profile, plan, index, target).parts(order.rows, is_complete=order.is_complete)
    if summary is not None and has_summary:
        return _summary_parts(profile, plan, index, target, summary)
    return _Matcher(profile, plan, index, target).parts(log.slowest.get(index, ()), is_complete=False)


def _refuse_if_nothing_matches(profile: OpProfile, parts: Sequence[MeasuredPart]) -> None:
    """Raise WrongProfileError if rows name unknown nodes or outputs, and no other row matches the model."""
    strange = [part for part in parts if part.why in (_NO_NODE, _NO_KERNEL)]
    if strange and not any(part.kind != UNMATCHED or part.why == _OTHER_NODES for part in parts):
        problem = f"{shortened(strange[0].op, 60)} {shortened(strange[0].name, 80)}"
        raise _wrong(profile, f"lists {problem}, which the model does not have")


class _Timed(NamedTuple):
    """A row with its time. ``delegate`` is "" for an unknown kernel, and None for a CPU node."""

    row: Row
    ms: float
    delegate: str | None

    @property
    def key(self) -> tuple[bool, str]:
        """The ``key`` of the steps of the row's operator or delegate."""
        return (False, self.row.op) if self.delegate is None else (True, self.delegate)

    @property
    def is_numbered_node(self) -> bool:
        """True if the row shows the index of a CPU node."""
        return self.delegate is None and self.row.node is not None


class _Matcher:
    """Matches the rows of one subgraph. The most certain matches are made first, and matches by order are made last."""

    def __init__(self, profile: OpProfile, plan: TimedPlan, subgraph: int, target: Target) -> None:
        self.profile = profile
        self.target = target
        self.graph: Graph = plan.graphs[subgraph]
        self.steps = plan.steps[subgraph]
        self.matched: dict[int, PlannedStep] = {}
        self.on_cpu = {node: node_step(self.graph, node) for node in self.graph.execution_plan}
        """The step of each node if the node runs on the CPU, as it may on the device although the simulation delegates it."""
        self.by_index: Mapping[tuple[tuple[bool, str], int | None], PlannedStep]
        self.by_index = {(step.key, step.index): step for step in (*self.on_cpu.values(), *reversed(self.steps))}
        self.by_key = _by_key(self.steps)
        self.outputs = {key: _Names((step.outputs, step) for step in steps) for key, steps in self.by_key.items()}
        self.first_names = _Names((tensor.name.partition(" ")[0], None) for tensor in self.graph.tensors)

    def parts(self, rows: Sequence[Row], *, is_complete: bool) -> Iterator[MeasuredPart]:
        own = [row for row in rows if not row.outputs.startswith(INNER)]
        timed = [_Timed(row, row.time.ms, kernel_delegate(row.op, self.target)) for row in own if row.time is not None]
        self._check(timed, len(own) if is_complete else None)
        self._match(timed, self._by_index)
        self._match(timed, self._by_outputs)
        self._match_in_order(timed)
        self._drop_other_kernels(timed, is_complete=is_complete)
        for number, entry in enumerate(timed):
            step = self.matched.get(number)
            yield self._unmatched(entry) if step is None else _part(entry, step)

    def _check(self, timed: Sequence[_Timed], count: int | None) -> None:
        """Raise WrongProfileError if a row contradicts the model. ``count`` is the number of rows if none is missing."""
        plan = self.on_cpu
        rows = [(entry.row, plan.get(entry.row.node or 0)) for entry in timed if entry.is_numbered_node]
        for row, step in rows:
            if step is None or step.op != row.op:
                has = "the model has no such node" if step is None else f"in the model it is {step.op}"
                raise _wrong(self.profile, f"lists {row.op} as node {row.node}, but {has}")
        named = [(row, step) for row, step in rows if row.outputs]
        others = [row for row, step in named if step is not None and not _is_same(row.outputs, step.outputs)]
        if len(others) * 2 > len(named):
            problem = f"names the output of node {others[0].node} {shortened(others[0].outputs, 80)}"
            raise _wrong(self.profile, f"{problem}, but the model does not")
        has_kernels = has_hidden_kernels(self.profile.log) or any(entry.delegate is not None for entry in timed)
        if count not in (None, len(plan)) and not has_kernels:
            raise _wrong(self.profile, f"lists {count:,} nodes, but the model has {len(plan):,}")

    def _match(self, timed: Sequence[_Timed], step_of: Callable[[_Timed], PlannedStep | None]) -> None:
        taken = {step.index for step in self.matched.values()}
        for number, entry in enumerate(timed):
            if number not in self.matched and (step := step_of(entry)) is not None and step.index not in taken:
                self.matched[number] = step
                taken.add(step.index)

    def _by_index(self, entry: _Timed) -> PlannedStep | None:
        step = self.by_index.get((entry.key, entry.row.node))
        return step if step is not None and _is_same(entry.row.outputs, step.outputs) else None

    def _by_outputs(self, entry: _Timed) -> PlannedStep | None:
        if not entry.row.outputs or entry.is_numbered_node or entry.key not in self.outputs:
            return None
        steps = list(islice(self.outputs[entry.key].same(entry.row.outputs), 2))
        return steps[0] if len(steps) == 1 else None

    def _match_in_order(self, timed: Sequence[_Timed]) -> None:
        taken = {step.index for step in self.matched.values()}
        rows: dict[tuple[bool, str], list[int]] = defaultdict(list)
        for number, entry in enumerate(timed):
            if number not in self.matched and not entry.is_numbered_node and not self._contradicts(entry):
                rows[entry.key].append(number)
        for key, numbers in rows.items():
            steps = [step for step in self.by_key.get(key, ()) if step.index not in taken]
            if len(steps) == len(numbers):
                self.matched |= dict(zip(numbers, steps, strict=True))

    def _drop_other_kernels(self, timed: Sequence[_Timed], *, is_complete: bool) -> None:
        """Drop matches with kernels that had other nodes on the device.

        A kernel had fewer nodes if one of them ran on the CPU, and more if it reads the result of a node without a row. Without
        names of outputs, it is matched only if all rows of the CPU, or else the indices of the kernels, are as simulated.
        """
        on_cpu = {entry.row.node for entry in timed if entry.is_numbered_node}
        on_cpu |= {step.index for step in self.matched.values() if not step.is_kernel}
        is_cpu_as_simulated = on_cpu == {step.index for step in self.steps if not step.is_kernel}
        planned = {node for step in self.steps for node in step.nodes}
        writers = {tensor: node for node in planned for tensor in self.graph.nodes[node].outputs}
        numbers = {step.index: number for number, step in self.matched.items() if step.is_kernel}
        placed = set(on_cpu)  # also the nodes of kernels that had the same nodes
        for step in [step for step in self.steps if step.is_kernel and step.index in numbers]:
            number = numbers[step.index]
            row = timed[number].row
            if not on_cpu.isdisjoint(step.nodes):
                has_same_nodes = False  # the device's kernel has fewer nodes
            elif is_complete:
                read = {writers[tensor] for node in step.nodes for tensor in self.graph.nodes[node].inputs if tensor in writers}
                has_same_nodes = read - set(step.nodes) <= placed and (bool(row.outputs) or is_cpu_as_simulated)
            else:
                has_same_nodes = row.node in (None, step.index)
            if has_same_nodes:
                placed.update(step.nodes)
            else:
                del self.matched[number]

    def _unmatched(self, entry: _Timed) -> MeasuredPart:
        why = _NOT_SIMULATED if entry.delegate == "" else _NO_NODE
        if entry.delegate:
            why = _NO_KERNEL if self._contradicts(entry) else _OTHER_NODES
        return MeasuredPart(UNMATCHED, entry.row.op, _name(entry.row), entry.ms, 1, (), row=entry.row.time, why=why)

    def _contradicts(self, entry: _Timed) -> bool:
        first = without_commas(entry.row.outputs).partition(" ")[0]
        return bool(first) and not any(True for _ in self.first_names.same(first))


def _by_key(steps: Iterable[PlannedStep]) -> dict[tuple[bool, str], list[PlannedStep]]:
    groups: dict[tuple[bool, str], list[PlannedStep]] = {}
    for step in steps:
        groups.setdefault(step.key, []).append(step)
    return groups


class _Names:
    def __init__(self, named: Iterable[tuple[str, PlannedStep | None]]) -> None:
        self._values: dict[str, list[PlannedStep | None]] = {}
        for name, value in named:
            self._values.setdefault(without_commas(name), []).append(value)
        self._names = sorted(self._values)

    def same(self, printed: str) -> Iterator[PlannedStep | None]:
        start = without_commas(printed)
        if start and len(start) < _CUT:
            yield from self._values.get(start, ())
            return
        start = start.rstrip(".")
        for place in range(bisect_left(self._names, start), len(self._names)):
            name = self._names[place]
            if not name.startswith(start):
                return
            yield from self._values[name]


def _part(entry: _Timed, step: PlannedStep) -> MeasuredPart:
    kind, kernels = (KERNEL, (step.keys,)) if step.is_kernel else (NODE, ())
    return MeasuredPart(kind, step.op, _name(entry.row), entry.ms, 1, step.keys, kernels, entry.row.time)


def _name(row: Row) -> str:
    return f"[{row.outputs}]" + ("" if row.node is None else f":{row.node}")


def _is_same(printed: str, names: str) -> bool:
    """Return whether printed output names are ``names``, without commas. A cut line has only their beginning."""
    start = without_commas(printed)
    return not start or start == names or (len(start) >= _CUT and names.startswith(start.rstrip(".")))


def _summary_parts(profile: OpProfile, plan: TimedPlan, index: int, target: Target, summary: Summary) -> Iterator[MeasuredPart]:
    steps, graph = plan.steps[index], plan.graphs[index]
    by_key = _by_key(steps)
    by_op: dict[str, list[NodeKey]] = defaultdict(list)
    for node in graph.execution_plan:
        by_op[graph.nodes[node].op].append(NodeKey(index, node))
    available = Counter({op: len(keys) for op, keys in by_op.items()})
    delegates = {op: kernel_delegate(op, target) for op in summary.counts}
    nodes = {op: count for op, count in summary.counts.items() if delegates[op] is None}
    has_kernels = len(nodes) < len(delegates) or has_hidden_kernels(profile.log)
    is_whole = summary.is_complete and not summary.lacks_rows
    for op, count in nodes.items():
        if count > available[op] and (is_operator(op) or available[op] or not has_kernels):
            raise _wrong(profile, f"counts {count:,} {shortened(op, 60)}, but the model has {available[op]:,}")
    if is_whole and not has_kernels and sum(nodes.values()) != len(graph.execution_plan):
        raise _wrong(profile, f"counts {sum(nodes.values()):,} nodes, but the model has {len(graph.execution_plan):,}")
    has_other_nodes = is_whole and nodes != dict(Counter([step.op for step in steps if not step.is_kernel]))
    for op, ms in summary.times.items():
        delegate, count = delegates[op], summary.counts[op]
        if delegate is None and count == available[op]:
            yield MeasuredPart(NODE, op, op, ms, count, tuple(by_op.get(op, ())))
            continue
        own = by_key.get((False, op) if delegate is None else (True, delegate), [])
        kernels = tuple([step.keys for step in own])
        keys = tuple(chain.from_iterable(kernels))
        if len(own) != count:
            what = "nodes" if delegate is None else "delegate kernels"
            why = f"the profile has {count:,} {what}, but the simulation has {len(own):,}"
            yield MeasuredPart(UNMATCHED, op, op, ms, count, (), why=_NOT_SIMULATED if delegate == "" else why)
        elif has_other_nodes:
            yield MeasuredPart(UNMATCHED, op, op, ms, count, (), why=_OTHER_CPU_NODES)
        elif delegate is None:
            yield MeasuredPart(NODE, op, op, ms, count, keys)
        else:
            yield MeasuredPart(KERNEL, delegate, op, ms, count, keys, kernels)


def _hidden_kernels(log: DeviceLog, plan: TimedPlan, index: int) -> Iterator[MeasuredPart]:
    kernels = [step for step in plan.steps[index] if step.is_kernel and step.op == APPLIED_BY_DEFAULT]
    if not kernels or not has_hidden_kernels(log):
        return
    times = [row.time.ms for row in log.inner_rows if row.time is not None]
    ms = sum(times) if times else sum([summary.inner_ms or 0.0 for summary in log.summaries.values()])
    keys = tuple([step.keys for step in kernels])
    nodes = tuple(chain.from_iterable(keys))
    yield MeasuredPart(KERNEL, APPLIED_BY_DEFAULT, "operators inside of kernels", ms, len(kernels), nodes, keys)


def _differences(profile: OpProfile, parts: Sequence[MeasuredPart], plan: TimedPlan, main: int) -> Iterator[str]:
    order, summary = profile.log.run_orders.get(main), profile.log.summaries.get(main)
    steps = len(plan.steps[main])
    if order is None and (summary is None or not summary.times) and 0 < len(parts) < steps:
        yield f"the profile has only {counted(len(parts), 'row')}, the slowest, of {steps:,}, so times are missing"
    measured = {part.nodes[0] for part in parts if part.kind == NODE and len(part.nodes) == 1}
    delegated = {key for steps in plan.steps for step in steps if step.is_kernel for key in step.keys}
    left = len(measured & delegated)
    taken = 0
    if order is not None and order.is_timed and order.is_complete and not order.lacks_rows:
        taken = len([step for step in plan.steps[main] if not step.is_kernel and NodeKey(main, step.index) not in measured])
    unmatched = len([part for part in parts if part.kind == UNMATCHED])
    problems = [f"{counted(left, 'node')} on the CPU that the simulation delegates"] if left else []
    problems += [f"no row for {counted(taken, 'node')} that the simulation leaves on the CPU"] if taken else []
    if problems:
        problems += [f"{counted(unmatched, 'row')} that the simulation does not have"] if unmatched else []
        advice = "check --runtime and the options, or run reconcile with this profile as the log"
        yield f"the profile has {and_list(problems)}: {advice}"
    elif unmatched:
        yield f"{unmatched:,} {'row matches' if unmatched == 1 else 'rows match'} nothing in the simulation"


@dataclass(frozen=True)
class OpProfiles:
    """The files of the profiles. Each file is read once, when it is needed."""

    paths: tuple[str, ...]

    @functools.cached_property
    def profiles(self) -> tuple[OpProfile, ...]:
        """The profiles. Raises LogError if a file cannot be read, or has no times."""
        return tuple(map(read_op_profile, self.paths))

    def timings(self, model: Model, targets: Sequence[Target]) -> tuple[Timing, ...]:
        """Match each profile with the first target whose delegate it shows, or the first. Raises WrongProfileError."""
        timings = []
        for profile in self.profiles:
            fitting = [target for target in targets if target.delegate.name in delegates_in(profile.log, target)]
            timings.append(match_profile(profile, model, (fitting or list(targets))[0]))
        return tuple(timings)
