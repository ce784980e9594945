"""``delegate-sim inspect``."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from delegate_sim.graph.graph import Graph, file_graphs
from delegate_sim.model.model import Model
from delegate_sim.prepare import prepare
from delegate_sim.text import printable

from ..exits import DONE, USAGE
from ..models import STANDARD_INPUT, Models, read_model, unreadable_entry, unreadable_lines
from ..terminal import Line, width, write, write_lines
from ..text.graph import model_entry, model_lines

_EPILOG = """\b
Examples:
  delegate-sim inspect model.tflite
  delegate-sim inspect model.tflite --file-shapes --subgraph 1
  delegate-sim inspect model.tflite --format json
"""


@click.command("inspect", epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@click.option("--subgraph", metavar="N", type=int, help="Only this subgraph.")
@click.option("--file-shapes", is_flag=True, help="Show shapes, types and allocations as they are in the file.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Text to read, or JSON for programs.",
)
def command(paths: Sequence[str], subgraph: int | None, file_shapes: bool, form: str) -> int:
    """Show the graph of each MODEL as delegates see it.

    Most delegates see it after the CPU kernels have prepared it, with shapes propagated; those that take dynamic tensors see it
    as it is in the file (--file-shapes). Each tensor is shown with its type, shape and where its data lives: constant (in
    the file), persistent (computed once), arena, variable or dynamic.
    """
    models = Models(paths)
    shapes = "file" if file_shapes else "prepared"
    entries = []
    for number, (model, graphs) in enumerate(models.each(lambda path: _graphs(path, subgraph, file_shapes))):
        if form == "json":
            entries.append(model_entry(model, graphs, shapes))
            continue
        heading = [] if models.is_single else [Line(f"=== {printable(model.path or STANDARD_INPUT)} ===", "bold")]
        write_lines([*([Line("")] if number else []), *heading, *model_lines(model, graphs, shapes, width())])
    if form == "text":
        write_lines([] if models.is_single else unreadable_lines(models.unreadable, width()))
    else:
        found = [*entries, *map(unreadable_entry, models.unreadable)]
        write(json.dumps(found[0] if models.is_single else found, indent=2) + "\n")
    return USAGE if models.unreadable else DONE


def _graphs(path: str, subgraph: int | None, file_shapes: bool) -> tuple[Model, tuple[Graph, ...]]:
    model = read_model(path)
    graphs = tuple(file_graphs(model) if file_shapes else prepare(model))
    if subgraph is None:
        return model, graphs
    if not 0 <= subgraph < len(graphs):
        raise click.ClickException(f"{path}: has no subgraph {subgraph}; the last is {len(graphs) - 1}")
    return model, (graphs[subgraph],)
