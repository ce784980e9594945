"""Tables of runs: runs, nodes and partitions as rows of plain data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...delegates.base import Delegate
from ...delegates.traits import Ranking
from ...foundation.columns import (
    INTEGER,
    LIST,
    NUMBER,
    OBJECT,
    TEXT,
    YES_OR_NO,
    Column,
    Table,
    attributes,
    by_key,
    group,
    keys,
    renamed,
    within,
)
from ...foundation.printable import counted, shortened
from ...graph.graph import Graph
from ...model.model import Model, Node
from ...rules.rule import Reason
from ...runtime.interpreter import Run, SubgraphRun
from ...runtime.run import option_values
from .measures import MEASURES, TAKEN, Measures, awaits_compiler, measure, measure_columns, work_share
from .multiply_adds import COMPUTE, Compute, compute_of, has_programs, node_multiply_adds
from .placement import crossing, node_reasons, node_tensors, on_cpu, placed_partitions, placements
from .rule_set import rule_set_version
from .verdict import verdict

SELECTED = "selected"


def selected_state(delegate: Delegate) -> str | None:
    """Return the state of nodes that the delegate only selects, or None if it runs the nodes that it takes."""
    return SELECTED if delegate.ranking is Ranking.PLUGINS else None


MODEL = Column("model", OBJECT, "the model file", parts=attributes("path", "sha256"))
"""The column of a model, with the path and the digest of the file."""
NOT_SIMULATED = Column(
    "not_simulated", LIST, "what a limit left out", source=lambda own: own.not_simulated or None, is_optional=True
)
TIMES = Column("time", LIST, "the measured times of each op profile", source=lambda own: own.times or None, is_optional=True)
TIME = Column("time", OBJECT, "the measured times", source="times", is_optional=True)
STATE = (
    Column("state", source=lambda run: selected_state(run.target.delegate), is_optional=True),
    Column(
        "effective_feature_level",
        INTEGER,
        "the feature level that follows from the options",
        source=lambda run: run.target.delegate.behind.level(run.target.options),
        is_optional=True,
    ),
    Column("warnings", LIST, "warnings about the run"),
)
"""The columns that qualify an outcome, of a result with ``target`` and ``warnings``.

``state`` says that nodes are only selected.
"""
COMPILATION = (
    Column(
        "awaits_compiler",
        TEXT,
        "the compiler that must compile the model before the delegate takes nodes",
        source=lambda run: run.delegate.compiler if awaits_compiler(run.delegate, measure(run)) else None,
        is_optional=True,
    ),
    Column(
        "has_programs",
        YES_OR_NO,
        "true if nodes contain compiled programs; the multiply-adds of the model are then not known",
        source=lambda run: has_programs(run) or None,
        is_optional=True,
    ),
)
"""The columns of a run that say what a compiler did, or must do first."""
_RUN = by_key(
    (
        Column("delegate", TEXT, "the name of the delegate", source="target.delegate.name"),
        Column("runtime", TEXT, "the release of the runtime", source="target.release.name"),
        Column("defaults", TEXT, "the set of defaults", source="target.defaults"),
        Column("options", OBJECT, "the values of all options", source=lambda run: option_values(run.target.options)),
        Column("rule_set", TEXT, "the version of the delegate's rules", source=lambda run: rule_set_version(run.target.delegate)),
    )
)

COST = (*within("measures", MEASURES), *attributes("multiply_adds", "total_multiply_adds", type=INTEGER))
"""The columns of a result that has ``measures``, and multiply-adds of delegated nodes and of all nodes."""

MEASURED = group("measures", *within("measures", MEASURES), *within("compute", COMPUTE))
"""The measures and multiply-adds of a result, as one object."""


def run_columns(*keys: str) -> tuple[Column, ...]:
    """Return columns of a result that has a ``target``: ``delegate``, ``runtime``, ``defaults``, ``options`` and ``rule_set``."""
    return tuple([_RUN[key] for key in keys])


_LONGEST_NAME = 60


def model_name(model: Model) -> str:
    """Return the name of a model for display: the file name without folders."""
    name = "a model given as bytes" if model.path is None else os.path.basename(model.path)
    return shortened(name, _LONGEST_NAME)


def run_words(run: Run) -> str:
    """Summarize a run. If the delegate runs no node, or the model does not run, the summary is the verdict."""
    measures = measure(run)
    words = verdict(run, measures)
    if measures.outcome == TAKEN:
        kernels = counted(measures.delegate_kernels, "kernel")
        words = f"{measures.outcome}, {measures.delegated_nodes:,} of {counted(measures.nodes, 'node')} in {kernels}"
    return f"{run.delegate.name} on {run.release}: {words}"


def report_tables(
    runs: Sequence[Run], is_chain: bool = False, advised_runs: Callable[[], Sequence[Run]] | None = None
) -> Mapping[str, Callable[[], Table]]:
    """Return functions that create the tables of runs, keyed by table name.

    The tables list the nodes, the partitions, the runs and the CPU nodes. A chain also has a table with the place of each node.
    Tables with hints use the runs that ``advised_runs`` returns.
    """
    hinting = advised_runs or (lambda: runs)
    tables: dict[str, Callable[[], Table]] = {
        "nodes": lambda: Table.of(
            NODE, [node for run in hinting() for part in run.subgraphs for node in placed_nodes(run, part)]
        ),
        "partitions": lambda: Table.of(
            PARTITION, [placed for run in runs for subgraph in run.subgraphs for placed in placed_partitions(run, subgraph)]
        ),
        "runs": lambda: runs_table(runs),
        "on_cpu": lambda: Table(keys(ON_CPU), list(_on_cpu_rows(hinting()))),
    }
    if is_chain:
        tables["placement"] = lambda: Table(("subgraph", "node", "op", "runs_on"), list(_placement_rows(runs)))
    return tables


def runs_table(runs: Sequence[Run]) -> Table:
    """Return a table with one row per run."""
    return Table.of(RUN, [MeasuredRun(run, measure(run), compute_of(run)) for run in runs])


class MeasuredRun(NamedTuple):
    """A run with its measures."""

    run: Run
    measures: Measures
    compute: Compute


def _share(own: MeasuredRun) -> float | None:
    return work_share(own.measures, own.compute.totals) if own.compute.multiply_adds else None


_OUTCOME, _NODES, _DELEGATED, *_REST = measure_columns(
    "outcome", "nodes", "delegated_nodes", "delegated_share", "partitions", "delegate_kernels"
)
NUMBERS = (_OUTCOME, _NODES, renamed(_DELEGATED, "delegated"), *_REST)
"""The measures of a run in tables."""
RUN = (
    Column("delegate", source="run.delegate.name"),
    Column("runtime", source=lambda measured: str(measured.run.release)),
    *within("measures", NUMBERS),
    *within("compute", [COMPUTE[0], renamed(COMPUTE[1], "multiply_adds_delegated")]),
    Column("multiply_add_share", NUMBER, source=_share),
    Column("refusal", source=lambda measured: "" if measured.run.refusal is None else measured.run.refusal.message),
)
"""The columns of a run. They also apply to the side of a comparison."""


def reason_cells(reasons: Sequence[Reason]) -> tuple[tuple[str, ...], str, str]:
    """Return the codes, messages and hints of a node's reasons."""
    codes = tuple([reason.code for reason in reasons])
    hints = dict.fromkeys([reason.hint for reason in reasons if reason.hint])
    return codes, "; ".join([reason.message for reason in reasons]), "; ".join(hints)


def _reason_cell(number: int, result: Any) -> Any:
    return reason_cells(result.reasons)[number]


class PlacedNode(NamedTuple):
    """A node of a run. The lists have the names of the tensors; the name of an omitted operand is None."""

    run: Run
    graph: Graph
    node: Node
    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    supported: bool
    delegated: bool
    partition: int | None
    multiply_adds: int
    reasons: tuple[Reason, ...]


NODE_ENTRY = (
    *within("node", [Column("index", INTEGER), Column("op"), Column("version", INTEGER)]),
    *attributes("inputs", "outputs", type=LIST),
    *(*attributes("supported", "delegated", type=YES_OR_NO), *attributes("partition", "multiply_adds", type=INTEGER)),
    Column("reasons", LIST),
)
"""The columns of a node in JSON."""
_INDEX, _OP, _VERSION, *_PLACE, _ = NODE_ENTRY
_CELLS = [Column(key, source=partial(_reason_cell, number)) for number, key in enumerate(("codes", "reasons", "hints"))]
NODE = (
    *(Column("delegate", source="run.delegate.name"), Column("subgraph", INTEGER, source="graph.index")),
    *(renamed(_INDEX, "node"), _OP, _VERSION, Column("name", source=lambda placed: next(iter(placed.outputs), ""))),
    *(*_PLACE, *_CELLS),
)
"""The columns of a node in tables."""
PARTITION_ENTRY = (
    *(Column("id", INTEGER, source="partition.number"), Column("kind"), Column("nodes", LIST, source="partition.nodes")),
    Column("inputs", LIST, source=lambda placed: crossing(placed.graph, placed.subset.inputs)),
    Column("outputs", LIST, source=lambda placed: crossing(placed.graph, placed.subset.outputs)),
    *within("partition", attributes("bytes_in", "bytes_out", "multiply_adds", type=INTEGER)),
)
"""The columns of a partition in JSON."""
_ID, _KIND, _NODES_OF, _, _, *_SIZES = PARTITION_ENTRY
PARTITION = (
    *(*within("partition", [Column("delegate"), Column("subgraph", INTEGER)]), renamed(_ID, "partition"), _KIND, _NODES_OF),
    Column("operators", source=lambda placed: _operators(placed.graph, placed.subset.nodes)),
    Column("inputs", LIST, source=lambda placed: _names(placed.graph, placed.subset.inputs)),
    Column("outputs", LIST, source=lambda placed: _names(placed.graph, placed.subset.outputs)),
    *_SIZES,
)
"""The columns of a partition in tables."""
ON_CPU = (*attributes("delegate", "op"), Column("nodes", INTEGER), *attributes("codes", "reasons", "hints"))
"""The columns of a group of nodes on the CPU."""


def placed_nodes(run: Run, subgraph: SubgraphRun) -> Iterator[PlacedNode]:
    """Yield the nodes of a subgraph in execution order."""
    graph, decision = subgraph.graph, subgraph.decision
    multiply_adds = node_multiply_adds(graph)
    partition_of = {node: number for number, subset in enumerate(subgraph.subsets) for node in subset.nodes}
    for index in graph.execution_plan:
        node = graph.nodes[index]
        verdict = decision.verdicts.get(index) if decision else None
        inputs, outputs = map(tuple, node_tensors(graph, node))
        yield PlacedNode(
            run, graph, node, inputs, outputs, verdict is not None and verdict.is_supported, index in subgraph.delegated,
            partition_of.get(index), multiply_adds.get(index, 0), node_reasons(subgraph, index, run.refusal),
        )  # fmt: skip


def _operators(graph: Graph, nodes: Sequence[int]) -> str:
    return ", ".join([f"{op} {count}" for op, count in Counter([graph.nodes[index].op for index in nodes]).most_common()])


def _names(graph: Graph, tensors: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([graph.tensors[index].name for index in crossing(graph, tensors)])


def _on_cpu_rows(runs: Iterable[Run]) -> Iterator[tuple[Any, ...]]:
    for run in runs:
        groups = Counter([(subgraph.graph.nodes[index].op, reasons) for subgraph, index, reasons in on_cpu(run)])
        for (op, reasons), count in groups.most_common():
            yield run.delegate.name, op, count, *reason_cells(reasons)


def _placement_rows(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    for subgraph, places in enumerate(placements(runs)):
        yield from ((subgraph, node.index, node.op, place) for node, place in places)
