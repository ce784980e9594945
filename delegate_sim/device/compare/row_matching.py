"""Match the rows of an operator table to the nodes of the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, group, within
from ...graph.graph import Graph, file_graphs
from ...model.model import Model
from ...model.precompiled import compiled_elsewhere
from ...model.schema import CUSTOM
from ..parse.compilations import NOT_COMPILED, CompilerRow, EdgeTpuCompilation
from ..parse.log_contents import ReconcileError
from ..parse.operator_tables import Row

OTHER_MODEL = "is the log from this model?"


def matched_nodes(graph: Graph, rows: Sequence[Row]) -> frozenset[int]:
    """Return the nodes that match the rows of a table. Raises ReconcileError for a row without a matching node.

    A row is matched by its node index if possible, otherwise by operator and outputs. If a row without a node index has no
    match yet, it gets the next unmatched node with the same operator.
    """
    matched: set[int] = set()
    plan = set(graph.execution_plan)
    by_outputs: dict[tuple[str, str], list[int]] = {}
    for index in graph.execution_plan:
        node = graph.nodes[index]
        names = ", ".join([graph.tensors[tensor].name if tensor >= 0 else "Unknown" for tensor in node.outputs])
        by_outputs.setdefault((node.op, without_commas(names)), []).append(index)
    rest: list[Row] = []
    for row in rows:
        if row.node is not None and row.node in plan and graph.nodes[row.node].op == row.op and row.node not in matched:
            matched.add(row.node)
            continue
        candidates = by_outputs.get((row.op, without_commas(row.outputs)), [])
        while candidates and candidates[0] in matched:
            candidates.pop(0)
        if candidates:
            matched.add(candidates.pop(0))
        else:
            rest.append(row)
    by_operator: dict[str, list[int]] = {}
    for index in graph.execution_plan if rest else ():
        by_operator.setdefault(graph.nodes[index].op, []).append(index)
    following = {op: iter(indices) for op, indices in by_operator.items()}
    for row in rest:
        same = next((candidate for candidate in following.get(row.op, iter(())) if candidate not in matched), None)
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


_CUSTOM = "CUSTOM"


@dataclass(frozen=True, slots=True)
class JoinedRow(Declared):
    """A row of the compiler's table with its nodes.

    If several rows list the same operator, the table does not show the row of each node. ``is_certain`` is then False, and
    ``nodes`` is a guess: the row of mapped nodes gets the first nodes in execution order, because the compiler starts at the
    inputs.
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
    nodes = _nodes_by_operator(graph, {row.op for row in compilation.rows})
    if compilation.rows:
        _check(compilation, nodes)
    return CompilerJoin(model, compilation, tuple(_joined(compilation, nodes)), len(graph.execution_plan), notes)


def _nodes_by_operator(graph: Graph, listed: set[str]) -> Mapping[str, list[int]]:
    """Return the nodes by their names in the compiler's table, which may list all custom operators as CUSTOM."""
    nodes: dict[str, list[int]] = {}
    for index in graph.execution_plan:
        node = graph.nodes[index]
        is_by_kind = node.builtin_code == CUSTOM and node.op not in listed and _CUSTOM in listed
        nodes.setdefault(_CUSTOM if is_by_kind else node.op, []).append(index)
    return nodes


def _check(compilation: EdgeTpuCompilation, nodes: Mapping[str, list[int]]) -> None:
    listed: Counter[str] = Counter()
    for row in compilation.rows:
        listed[row.op] += row.count
    for op in sorted({*listed, *nodes}):
        count = len(nodes.get(op, ()))
        if listed[op] != count:
            raise ReconcileError(f"the compiler's table lists {listed[op]} {op}, but the model has {count}; {OTHER_MODEL}")


def _joined(compilation: EdgeTpuCompilation, nodes: Mapping[str, list[int]]) -> Iterator[JoinedRow]:
    rows = sorted(compilation.rows, key=lambda row: not row.is_mapped)
    given: Counter[str] = Counter()
    for row in rows:
        first, given[row.op] = given[row.op], given[row.op] + row.count
        is_certain = row.count == len(nodes[row.op])
        yield JoinedRow(row, tuple(nodes[row.op][first : first + row.count]), is_certain)
