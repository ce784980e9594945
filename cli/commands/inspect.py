"""``delegate-sim inspect``."""

from __future__ import annotations

import json

import click

from delegate_sim import load
from delegate_sim.graph.graph import file_graphs
from delegate_sim.prepare import prepare

from ..terminal import width, write, write_lines
from ..text.graph import model_entry, model_lines

_EPILOG = """\b
Examples:
  delegate-sim inspect model.tflite
  delegate-sim inspect model.tflite --file-shapes --subgraph 1
  delegate-sim inspect model.tflite --format json
"""


@click.command("inspect", epilog=_EPILOG, no_args_is_help=True)
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
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
def command(path: str, subgraph: int | None, file_shapes: bool, form: str) -> None:
    """Show the graph of a MODEL as delegates see it.

    Most delegates see it after the CPU kernels have prepared it, with shapes propagated; those that take dynamic tensors see it
    as it is in the file (--file-shapes). Each tensor is shown with its type, shape and where its data lives: constant (in
    the file), persistent (computed once), arena, variable or dynamic.
    """
    model = load(path)
    graphs = file_graphs(model) if file_shapes else prepare(model)
    if subgraph is not None:
        if not 0 <= subgraph < len(graphs):
            raise click.ClickException(f"{path}: has no subgraph {subgraph}; the last is {len(graphs) - 1}")
        graphs = (graphs[subgraph],)
    shapes = "file" if file_shapes else "prepared"
    if form == "json":
        write(json.dumps(model_entry(model, graphs, shapes), indent=2) + "\n")
    else:
        write_lines(model_lines(model, graphs, shapes, width()))
