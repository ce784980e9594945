"""Every delegate in one line: the outcome, and the main blocker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from delegate_sim.results.measures import measure
from delegate_sim.results.report import node_reasons
from delegate_sim.runtime.interpreter import Run

from ..layout import counted, cut, name, share
from ..terminal import Line

_HEADING = "bold"
_HINT = "cyan"
_COLUMNS = ("delegate", "outcome", "delegated", "partitions", "kernels", "first blocker")
_PADDING = (str.ljust, str.ljust, str.rjust, str.rjust, str.rjust, str.ljust)


def overview_lines(runs: Sequence[Run], width: int) -> Iterator[Line]:
    """Return a table of the runs, one row each, and how to see one in detail.

    If the last column does not fit, it becomes a table of its own.
    """
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in runs[0].subgraphs])
    yield Line(f"{counted(nodes, 'node')}, each delegate on its own, on {runs[0].release}", _HEADING)
    rows = [_COLUMNS, *[_row(run, nodes) for run in runs]]
    table = _table(rows, range(6))
    if max(map(len, table)) > width:
        table = [*_table(rows, range(5)), "", *_table(rows, (0, 5))]
    yield from (Line(cut(line, width)) for line in table)
    yield Line("")
    yield Line("One in detail: --delegate NAME (all of them: --delegate all)", _HINT)


def first_blocker(run: Run) -> str:
    """Return the code of the refusal, or else the operator and code that keep most nodes on the CPU, and how many."""
    if run.refusal is not None:
        return run.refusal.code
    blocked = Counter(
        (subgraph.graph.nodes[index].op, code)
        for subgraph in run.subgraphs
        for index in subgraph.graph.execution_plan
        if index not in subgraph.delegated
        for code in dict.fromkeys(reason.code for reason in node_reasons(subgraph, index))
    )
    if not blocked:
        return ""
    [((op, code), number)] = blocked.most_common(1)
    return f"{name(op)} {number:,}: {code}"


def _row(run: Run, nodes: int) -> tuple[str, ...]:
    measures = measure(run)
    return (
        run.delegate.name,
        measures.outcome,
        f"{measures.delegated_nodes:,} ({share(measures.delegated_nodes, nodes)})",
        f"{measures.partitions:,}",
        f"{measures.delegate_kernels:,}",
        first_blocker(run),
    )


def _table(rows: Sequence[tuple[str, ...]], columns: Sequence[int]) -> list[str]:
    """Lay out some columns of the rows."""
    widths = [max(len(row[column]) for row in rows) for column in columns]
    return [
        "  ".join(["", *[_PADDING[column](row[column], size) for column, size in zip(columns, widths, strict=True)]]).rstrip()
        for row in rows
    ]
