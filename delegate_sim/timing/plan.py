"""The simulated execution plan of a profiled run: delegate kernels and CPU nodes in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from ..delegates.base import Delegate
from ..delegates.options import parse_options
from ..delegates.registry import APPLIED_BY_DEFAULT, find_delegate
from ..device.compare.row_matching import without_commas
from ..device.parse.delegate_identity import UNNAMED_KERNEL, delegate_named, has_hidden_kernels
from ..device.parse.log_contents import DeviceLog
from ..device.parse.profiles.operator_tables import Row
from ..graph.calls import DELEGATE
from ..graph.graph import Graph
from ..hypothetical.hypothetical_changes import NodeKey
from ..model.model import Model
from ..runtime.interpreter import Run, SubgraphRun, simulate, simulate_chain
from ..runtime.target import Target
from .measured import InnerOperator


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
    if not names:
        graphs = tuple([subgraph.graph for subgraph in simulate(model, target).subgraphs])
        steps = [tuple([node_step(graph, node) for node in graph.execution_plan]) for graph in graphs]
        return TimedPlan(tuple(steps), graphs, ())
    targets = [target if name == target.delegate.name else _default(find_delegate(name), target) for name in names]
    runs = simulate_chain(model, targets)
    graphs = tuple([subgraph.graph for subgraph in runs[0].subgraphs])
    return TimedPlan(tuple([tuple(_steps(runs, index)) for index in range(len(graphs))]), graphs, names)


def _default(delegate: Delegate, target: Target) -> Target:
    return replace(target, delegate=delegate, options=parse_options(delegate.name, delegate.options, {}, target.defaults))


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
            nodes = [
                [NodeKey(kernel.subgraph, node) for node in kernel.nodes if plan.graphs[kernel.subgraph].nodes[node].op == op]
                for kernel in kernels
                if kernel.op == delegate
            ]
            groups = [group for group in nodes if group]
            if len(groups) == 1 and len(groups[0]) == len(own):
                matched |= dict(zip(own, groups[0], strict=True))
    return matched
