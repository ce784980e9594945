"""Tables of many models, with a row for each model or target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from delegate_sim.foundation.printable import printable
from delegate_sim.results.report.coverage import coverage_verdict
from delegate_sim.results.report.measures import TAKEN

from ..console.layout import counted, message, name, share
from ..console.terminal import Line
from .elements.measures import FURTHER_TITLES, measure_cells, nodes_cell, work_cell
from .elements.paragraphs import BAD, HEADING, HINT, heading_lines, paragraph, table
from .elements.verdict import plugin_lines

if TYPE_CHECKING:
    from delegate_sim.diagnosis.goal_search import Search
    from delegate_sim.graph.graph import Graph
    from delegate_sim.model.model import Model
    from delegate_sim.results.compare.comparison import Comparison
    from delegate_sim.results.compare.release_table import ReleaseTable
    from delegate_sim.runtime.interpreter import Run

_NARROWEST = 24


@dataclass(frozen=True, slots=True)
class Columns:
    """The headings of all columns except the column of models.

    ``numbers`` lists the columns with numbers, and ``optional`` those that a narrow terminal does not show, first to go first.
    """

    headings: Sequence[str]
    numbers: Sequence[int]
    optional: Sequence[int] = ()


INSPECTED = Columns(("bytes", "subgraphs", "nodes", "tensors", "preparing stops"), range(4))
STACKED = Columns(("SoC", "CompiledModel", "where nodes run"), ())
LIVED = Columns(("target", "live"), ())
SEARCHED = Columns(("causes", "delegated", "multiply-adds", "partitions", "kernels", "without"), range(5), (4, 3))
RELEASED = Columns(("delegate", "loads from", "fully delegated", "newest", "multiply-adds"), (3, 4))
_COMPARED = ("delegated", "multiply-adds", "kernels", *FURTHER_TITLES, "to delegate", "to CPU")
COMPARED = Columns(_COMPARED, range(len(_COMPARED)), range(len(_COMPARED) - 3, 1, -1))


def many_lines(columns: Columns, rows: Sequence[tuple[str, Sequence[str]]], width: int) -> Iterator[Line]:
    """Yield a table. Each row has the path of a model and the cells of the model."""
    paths = [path for path, _ in rows]
    names = model_names(paths, max(_NARROWEST, width // 3))
    cells = [("model", *columns.headings), *[(text, *row) for text, (_, row) in zip(names, rows, strict=True)]]
    yield Line(counted(len(set(paths)), "model"), HEADING)
    numbers, optional = ([number + 1 for number in numbers] for numbers in (columns.numbers, columns.optional))
    yield from table(cells, numbers, width, optional=optional)


def targets_lines(columns: Columns, rows: Sequence[Sequence[str]], runs: Sequence[Run], width: int) -> Iterator[Line]:
    """Yield the verdict on the best of several targets, and a table with a row for each target."""
    yield from paragraph(coverage_verdict(runs), width, "", "  ", style=HEADING)
    yield from table([tuple(columns.headings), *map(tuple, rows)], columns.numbers, width)
    yield from plugin_lines(runs, width)


def unanswered_lines(messages: Sequence[str], width: int) -> Iterator[Line]:
    """Return the error messages of unreadable models."""
    if messages:
        yield Line("")
        yield Line(f"Not answered: {counted(len(messages), 'model')}", BAD)
        for said in messages:
            yield from paragraph(message(said), width, "  ", "    ")


def many_hint() -> Iterator[Line]:
    """Yield a hint about details that the table omits."""
    yield from heading_lines("For details: --verbose, or one model at a time", HINT)


def details_hint() -> Iterator[Line]:
    """Yield a hint about the details of each target, for the end of a table of targets."""
    yield from heading_lines("For details: --verbose, or one target at a time", HINT)


def compared_row(comparison: Comparison) -> Sequence[str]:
    """Return table cells: the numbers of both sides, and the number of nodes that move. Equal numbers are shown once."""
    sides = comparison.a, comparison.b
    cells = [measure_cells(own.measures, own.compute.delegated_multiply_adds, own.compute.multiply_adds) for own in sides]
    steps = [old if old == new else f"{old} -> {new}" for old, new in zip(*cells, strict=True)]
    return [*steps, f"{len(comparison.to_delegate):,}", f"{len(comparison.to_cpu):,}"]


def searched_row(search: Search) -> Sequence[str]:
    """Return table cells for the first set of causes that a search found, or for all causes if the search found no set."""
    way = search.ways[0] if search.ways else None
    cost, number = (search.without_all, "not reached") if way is None else (way.cost, f"{len(way.causes):,}")
    removed = "all" if way is None else "; ".join([name(cause.title) for cause in way.causes])
    delegated = share(cost.measures.delegated_nodes, cost.measures.nodes)
    counts = [f"{count:,}" for count in (cost.measures.partitions, cost.measures.delegate_kernels)]
    return [number, delegated, work_cell(cost.multiply_adds, cost.total_multiply_adds), *counts, removed]


def released_row(releases: ReleaseTable, label: str) -> Sequence[str]:
    """Return table cells: the first releases that load a model, the releases that delegate all nodes, and the newest result."""
    loading = " or ".join([str(first.release) for first in releases.first_loading.values() if first is not None]) or "none known"
    full = f"{releases.full[0]} to {releases.full[-1]}" if releases.full else "never"
    full += ", with wrong numbers" if any(row.is_full and row.measures.wrong_results for row in releases.rows) else ""
    newest = releases.newest_row.measures
    work = work_cell(releases.newest_row.compute.delegated_multiply_adds, releases.newest_row.compute.multiply_adds)
    return [label, loading, full, nodes_cell(newest), work if newest.outcome == TAKEN else "-"]


def inspected_row(model: Model, graphs: Sequence[Graph]) -> Sequence[str]:
    """Return table cells: the sizes of a model and its graphs, and the reason if preparation stops."""
    nodes = sum([len(graph.nodes) for graph in graphs])
    tensors = sum([len(graph.tensors) for graph in graphs])
    failed = any(graph.failure is not None for graph in graphs)
    dynamic = any(graph.dynamic is not None for graph in graphs)
    stopped = "by a node that cannot be prepared" if failed else "by a dynamic tensor" if dynamic else ""
    return [f"{model.size:,}", f"{len(graphs):,}", f"{nodes:,}", f"{tensors:,}", stopped]


def model_names(paths: Sequence[str], room: int) -> list[str]:
    """Return paths without their common folder, safe to print, for the rows of a table.

    Paths are shortened to ``room`` characters, or to more if different paths would look the same.
    """
    common = _common_folder(paths)
    names = [printable(path.removeprefix(common)) for path in paths]
    longest = max(map(len, names), default=0)
    while room < longest and len({shortened(text, room) for text in names}) < len(set(names)):
        room += 4
    return [shortened(text, room) for text in names]


def _common_folder(paths: Sequence[str]) -> str:
    folders = {path[: path.rfind("/") + 1] for path in paths}
    shortest = min(folders, key=len, default="")
    while not all(folder.startswith(shortest) for folder in folders):
        shortest = shortest[: shortest[:-1].rfind("/") + 1]
    return shortest


def shortened(path: str, room: int) -> str:
    """Make a path safe to print, and shorten a long path to its beginning and its end."""
    text = printable(path)
    return text if len(text) <= room else f"{text[: room // 2 - 3]}...{text[-(room - room // 2) :]}"
