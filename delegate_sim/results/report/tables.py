"""Tables of runs: runs, nodes and partitions as rows of plain data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...foundation.columns import Column, renamed, within
from ...foundation.printable import counted, shortened
from ...model.model import Model
from ...rules.rule import Reason
from ...runtime.interpreter import Run
from .display import Table
from .measures import TAKEN, Measures, measure, measure_columns
from .multiply_adds import COMPUTE, Compute, compute_of
from .placement import CPU, bytes_across, crossing, node_reasons, node_tensors, on_cpu, placements
from .verdict import verdict

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
        "nodes": lambda: Table(_NODE_COLUMNS, list(_node_rows(hinting()))),
        "partitions": lambda: Table(_PARTITION_COLUMNS, list(_partition_rows(runs))),
        "runs": lambda: runs_table(runs),
        "on_cpu": lambda: Table(_ON_CPU_COLUMNS, list(_on_cpu_rows(hinting()))),
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
    Column("refusal", source=lambda measured: "" if measured.run.refusal is None else measured.run.refusal.message),
)
"""The columns of a run. They also apply to the side of a comparison."""
_NODE_COLUMNS = (
    "delegate", "subgraph", "node", "op", "version", "name", "inputs", "outputs", "supported", "delegated", "partition",
    "multiply_adds", "codes", "reasons", "hints",
)  # fmt: skip
_PARTITION_COLUMNS = (
    "delegate", "subgraph", "partition", "kind", "nodes", "operators", "inputs", "outputs", "bytes_in", "bytes_out",
    "multiply_adds",
)  # fmt: skip
_ON_CPU_COLUMNS = ("delegate", "op", "nodes", "codes", "reasons", "hints")


def _node_rows(runs: Iterable[Run]) -> Iterator[tuple[Any, ...]]:
    for run in runs:
        compute = compute_of(run)
        for subgraph in run.subgraphs:
            graph, decision = subgraph.graph, subgraph.decision
            partition_of = {node: number for number, subset in enumerate(subgraph.subsets) for node in subset.nodes}
            for index in graph.execution_plan:
                node = graph.nodes[index]
                verdict = decision.verdicts.get(index) if decision else None
                inputs, outputs = node_tensors(graph, node)
                yield (
                    run.delegate.name, graph.index, index, node.op, node.version, outputs[0] if outputs else "",
                    tuple(inputs), tuple(outputs), verdict is not None and verdict.is_supported, index in subgraph.delegated,
                    partition_of.get(index), compute.by_node[graph.index].get(index, 0),
                    *reason_cells(node_reasons(subgraph, index, run.refusal)),
                )  # fmt: skip


def reason_cells(reasons: Sequence[Reason]) -> tuple[tuple[str, ...], str, str]:
    """Return the codes, messages and hints of a node's reasons."""
    codes = tuple([reason.code for reason in reasons])
    hints = dict.fromkeys([reason.hint for reason in reasons if reason.hint])
    return codes, "; ".join([reason.message for reason in reasons]), "; ".join(hints)


def _partition_rows(runs: Iterable[Run]) -> Iterator[tuple[Any, ...]]:
    for run in runs:
        compute = compute_of(run)
        for subgraph in run.subgraphs:
            graph = subgraph.graph
            for number, subset in enumerate(subgraph.subsets):
                operators = Counter([graph.nodes[index].op for index in subset.nodes])
                yield (
                    run.delegate.name, graph.index, number, "delegate" if subset.is_delegated else CPU, tuple(subset.nodes),
                    ", ".join([f"{op} {count}" for op, count in operators.most_common()]),
                    tuple([graph.tensors[index].name for index in crossing(graph, subset.inputs)]),
                    tuple([graph.tensors[index].name for index in crossing(graph, subset.outputs)]),
                    *bytes_across(graph, subset), compute.of(graph.index, subset.nodes),
                )  # fmt: skip


def _on_cpu_rows(runs: Iterable[Run]) -> Iterator[tuple[Any, ...]]:
    """Count the CPU nodes by operator and reasons. The largest group comes first."""
    for run in runs:
        groups = Counter([(subgraph.graph.nodes[index].op, reasons) for subgraph, index, reasons in on_cpu(run)])
        for (op, reasons), count in groups.most_common():
            yield run.delegate.name, op, count, *reason_cells(reasons)


def _placement_rows(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    for subgraph, places in enumerate(placements(runs)):
        yield from ((subgraph, node.index, node.op, place) for node, place in places)
