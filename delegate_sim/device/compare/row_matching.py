"""Match the rows of an operator table to the nodes of the graph."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...delegates.driver import StageOperation
from ...foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, group, within
from ...foundation.printable import counted
from ...graph.graph import Graph, file_graphs
from ...model.model import Model
from ...model.precompiled import compiled_elsewhere
from ...model.schema import CUSTOM
from ...runtime.interpreter import Run
from ..parse.compilations import (
    NOT_COMPILED,
    CompilerRow,
    EdgeTpuCompilation,
    RuntimeCompilation,
    RuntimeLog,
    Steps,
    device_steps,
    steps_text,
)
from ..parse.log_contents import DeviceLog, ReconcileError
from ..parse.operator_tables import Row

OTHER_MODEL = "is the log from this model?"


def matched_nodes(graph: Graph, rows: Sequence[Row]) -> frozenset[int]:
    """Return the nodes that match the rows of a table. Raises ReconcileError for a row without a matching node.

    A row is matched by node index, or by operator and outputs, or else with the next unmatched node of the operator.
    """
    matched: set[int] = set()
    by_outputs: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    by_operator: dict[str, deque[int]] = defaultdict(deque)
    for index in graph.execution_plan:
        node = graph.nodes[index]
        names = ", ".join([graph.tensors[tensor].name if tensor >= 0 else "Unknown" for tensor in node.outputs])
        by_outputs[node.op, without_commas(names)].append(index)
        by_operator[node.op].append(index)

    def next_of(candidates: deque[int]) -> int | None:
        while candidates and candidates[0] in matched:
            candidates.popleft()
        return candidates.popleft() if candidates else None

    rest: list[Row] = []
    plan = set(graph.execution_plan)
    for row in rows:
        is_known = row.node in plan and row.node not in matched and graph.nodes[row.node].op == row.op
        match = row.node if is_known else next_of(by_outputs[row.op, without_commas(row.outputs)])
        if match is None:
            rest.append(row)
        else:
            matched.add(match)
    for row in rest:
        same = next_of(by_operator[row.op])
        if row.node is not None or same is None:
            place = "" if row.node is None else f" as node {row.node}"
            raise ReconcileError(
                f"the log lists {row.op}{place} of subgraph {graph.index}, but the model has no such node; {OTHER_MODEL}"
            )
        matched.add(same)
    return frozenset(matched)


def without_commas(names: str) -> str:
    """Return a list of tensor names without commas, because some tables have blanks instead of commas."""
    return " ".join(names.replace(",", " ").split())


@dataclass(frozen=True, slots=True)
class JoinedRow(Declared):
    """A row of the compiler's table with its nodes.

    If several rows list one operator, ``is_certain`` is False, and mapped nodes are assumed to come first in execution order,
    because the compiler starts at the inputs.
    """

    columns = (
        *within("row", [Column("operator", source="op"), *attributes("status", "meaning"), Column("is_mapped", YES_OR_NO)]),
        *(Column("nodes", LIST), Column("is_certain", YES_OR_NO)),
    )

    row: CompilerRow
    nodes: tuple[int, ...]
    is_certain: bool


@dataclass(frozen=True, slots=True)
class CompilerJoin(Declared):
    """The output of the Edge TPU compiler, joined with the nodes of the model."""

    document = "reconcile-compiler"
    columns = (
        group("model", *within("model", attributes("path", "sha256")), Column("nodes", INTEGER, source="node_count")),
        Column("status", source=lambda own: "joined" if own.is_joined else "not-compared"),
        Column(
            "compiler",
            OBJECT,
            source=lambda own: None if own.compilation == NOT_COMPILED else own.compilation,
            parts=EdgeTpuCompilation.columns,
        ),
        *(Column("rows", LIST, parts=JoinedRow.columns), Column("notes", LIST)),
    )

    model: Model
    compilation: EdgeTpuCompilation
    rows: tuple[JoinedRow, ...]
    node_count: int
    notes: tuple[str, ...] = ()

    @property
    def is_joined(self) -> bool:
        """True if the compiler printed a table."""
        return bool(self.rows)


def join_compiler_table(model: Model, compilation: EdgeTpuCompilation, notes: tuple[str, ...] = ()) -> CompilerJoin:
    """Join the compiler's table with the uncompiled model. Raises ReconcileError if the model is another, or compiled."""
    compiled = compiled_elsewhere(model)
    if compiled:
        source = f", {compilation.source}," if compilation.source else ""
        raise ReconcileError(f"the model is already compiled for {compiled}; give the original model{source} instead")
    graph = file_graphs(model)[0]
    nodes = _nodes_by_operator(graph, compilation)
    return CompilerJoin(model, compilation, tuple(_joined(compilation, nodes)), len(graph.execution_plan), notes)


def _nodes_by_operator(graph: Graph, compilation: EdgeTpuCompilation) -> Mapping[str, list[int]]:
    """Return the nodes by their names in the compiler's table, which may list all custom operators as CUSTOM.

    Raises ReconcileError if the table has other numbers of nodes.
    """
    nodes: dict[str, list[int]] = {}
    listed: Counter[str] = Counter()
    for row in compilation.rows:
        listed[row.op] += row.count
    for index in graph.execution_plan:
        node = graph.nodes[index]
        is_by_kind = node.builtin_code == CUSTOM and node.op not in listed and "CUSTOM" in listed
        nodes.setdefault("CUSTOM" if is_by_kind else node.op, []).append(index)
    for op in sorted({*listed, *nodes}) if compilation.rows else ():
        count = len(nodes.get(op, ()))
        if listed[op] != count:
            raise ReconcileError(f"the compiler's table lists {listed[op]} {op}, but the model has {count}; {OTHER_MODEL}")
    return nodes


def _joined(compilation: EdgeTpuCompilation, nodes: Mapping[str, list[int]]) -> Iterator[JoinedRow]:
    rows = sorted(compilation.rows, key=lambda row: not row.is_mapped)
    given: Counter[str] = Counter()
    for row in rows:
        first, given[row.op] = given[row.op], given[row.op] + row.count
        is_certain = row.count == len(nodes[row.op])
        yield JoinedRow(row, tuple(nodes[row.op][first : first + row.count]), is_certain)


_OperationCounts: TypeAlias = frozenset[tuple[str, int]]


MatchedPartition: TypeAlias = tuple[tuple[StageOperation, ...], RuntimeCompilation | None]
"""The operations of a simulated partition, and its compilation on the device, or None if the log shows no such compilation."""


def matched_partitions(log: RuntimeLog, run: Run) -> tuple[MatchedPartition, ...]:
    """Match each simulated partition with a compilation by the runtime that has the same operations in the same order."""
    left: dict[tuple[str, ...], deque[RuntimeCompilation]] = {}
    for compilation in log.compilations:
        if compilation.choices:
            left.setdefault(tuple([choice.op for choice in compilation.choices]), deque()).append(compilation)
    partitions = []
    for _, operations in stage_operations(run):
        same = left.get(tuple([operation.name for operation in operations]))
        partitions.append((operations, same.popleft() if same else None))
    return tuple(partitions)


def stage_operations(run: Run) -> Iterator[tuple[int, tuple[StageOperation, ...]]]:
    """Yield each delegated partition as its subgraph index and its operations, in the order of compilation."""
    interface = run.delegate.behind.devices
    for subgraph in run.subgraphs:
        if interface is not None and subgraph.decision is not None:
            for operations in interface.operations(subgraph.decision, subgraph.subsets):
                yield subgraph.graph.index, operations


def stage_notes(log: DeviceLog, run: Run) -> Iterator[str]:
    """Yield notes that compare the operations that the runtime compiled with the simulated operations."""
    compilations = [compilation for compilation in log.runtime.compilations if compilation.choices]
    if not compilations or run.delegate.behind.devices is None:
        return
    matched = matched_partitions(log.runtime, run)
    same = sum([compilation is not None for _, compilation in matched])
    if same == len(matched) == len(compilations):
        yield f"the runtime compiled the simulated operations in the same order ({counted(same, 'model')})"
        return
    yield (
        f"the runtime compiled {counted(len(compilations), 'model')}, and the simulation has "
        f"{counted(len(matched), 'partition')}; {same} have the same operations in the same order"
    )
    short = [own for own in compilations if own.operation_count is not None and not own.is_complete]
    for compilation in short:
        count = len(compilation.choices)
        yield f"the runtime compiled {compilation.operation_count} operations, but the log lists only {count} of them"
    if not short:
        device, ours = _operators(log.runtime.compilations), _names(run)
        other = sorted(name for name in {*device, *ours} if device[name] != ours[name])
        doubts = tuple(other_operations(log.runtime, run))
        if doubts:
            yield from doubts
        elif other:
            text = ", ".join([f"{name} {device[name]} and {ours[name]}" for name in other])
            yield f"the counts of compiled operations differ (device and simulation): {text}"


def other_operations(log: RuntimeLog, run: Run) -> Iterator[str]:
    """Yield a note if most operations that the runtime compiled are not in the simulation."""
    compilations = [compilation for compilation in log.compilations if compilation.choices]
    if run.delegate.behind.devices is None or any(
        compilation.operation_count is not None and not compilation.is_complete for compilation in compilations
    ):
        return
    device = _operators(log.compilations)
    if (device & _names(run)).total() < device.total() / 2:
        yield f"the runtime compiled operations that this model does not have; {OTHER_MODEL}"


def split_differences(log: DeviceLog, run: Run) -> Iterator[str]:
    """Yield the differences between the steps on the device and in the simulation. Nothing without a device profile."""
    interface = run.delegate.behind.devices
    if interface is None or run.options.get(interface.option) is None:
        return
    shown = [device_steps(compilation) for compilation in log.runtime.compilations if compilation.choices]
    theirs = [steps for steps in shown if steps is not None]
    ours: dict[_OperationCounts, Counter[Steps]] = {}
    decided = [(subgraph.decision, subgraph.subsets) for subgraph in run.subgraphs if subgraph.decision is not None]
    for decision, subsets in decided:
        for split in run.delegate.behind.split(decision, subsets, run.options, run.release):
            own = tuple([(step.device, tuple([name for _, name in step.operations])) for step in split.steps])
            ours.setdefault(_operation_counts(own), Counter())[own] += 1
    for steps in theirs:
        left = ours.get(_operation_counts(steps), Counter())
        if steps in left:
            left[steps] -= 1
            if not left[steps]:
                del left[steps]
            continue
        simulated = f"they are {steps_text(next(iter(left)))}" if left else "no partition has these operations"
        yield f"the runtime's steps on the device are {steps_text(steps)}, but in the simulation {simulated}"


def _operation_counts(steps: Steps) -> _OperationCounts:
    return frozenset(Counter(name for _, names in steps for name in names).items())


def _operators(compilations: Sequence[RuntimeCompilation]) -> Counter[str]:
    return Counter(choice.op for compilation in compilations for choice in compilation.choices)


def _names(run: Run) -> Counter[str]:
    return Counter(operation.name for _, operations in stage_operations(run) for operation in operations)
