"""``delegate-sim export``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import click

from delegate_sim.graph.effort import Effort
from delegate_sim.results.compare.compared_runs import simulated_side
from delegate_sim.runtime.interpreter import Run
from delegate_sim.runtime.target import Target

from ..console.terminal import write, write_file
from ..models import Models, one_path, read_model
from ..options.delegate_flags import DelegateCommand
from ..options.targets import targets_options

MODEL_EXPLORER = "model-explorer"
_FORMATS = (MODEL_EXPLORER, "dot", "graphml", "json")

_MEDIUM = {MODEL_EXPLORER: "json", "graphml": "junit"}
"""The format that ``write`` gets instead of these export formats: node data is JSON, and GraphML is XML, like ``junit``."""

_EPILOG = """\b
Examples:
  delegate-sim export model-explorer model.tflite -o overlay.json
  delegate-sim export model-explorer model.tflite --delegate nnapi --delegate gpu -o overlay.json
  delegate-sim export dot model.tflite --delegate gpu -o model.dot
  delegate-sim export graphml model.tflite

model-explorer is node data for Google's Model Explorer, a layer for each delegate: with several, each has a file of its own, with
the delegate's name before the ending. Open it with: model-explorer model.tflite --node_data_paths=overlay.json
The other formats are written by networkx and pydot, which the extra [export] installs; in DOT a partition is a cluster.
"""


@click.command("export", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("form", metavar="FORMAT", type=click.Choice(_FORMATS))
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@targets_options
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write to a file instead of standard output.")
def command(
    form: str,
    path: str,
    targets: Sequence[Target],
    output: str | None,
) -> int:
    """Write what delegates do to MODEL in the format of another program: model-explorer, dot, graphml or json."""
    if len(targets) > 1 and output is None:
        raise click.UsageError("several delegates are several files: give --output")
    model = read_model(one_path(path))
    models = Models([path])
    affordable = models.affordable(path, targets, Effort(model))
    texts = [(target, _text(form, simulated_side(model, target).run)) for target in affordable]
    for target, text in texts:
        if output is None:
            write(text, _MEDIUM.get(form, form))
        else:
            write_file(_file(output, target, is_single=len(targets) == 1), text)
    return models.exit_code


def _text(form: str, run: Run) -> str:
    if form == MODEL_EXPLORER:
        from delegate_sim.export.model_explorer import node_data

        return json.dumps(node_data(run), indent=1) + "\n"
    from delegate_sim.export.graph import FORMATS

    return FORMATS[form](run)


def _file(output: str, target: Target, *, is_single: bool) -> str:
    if is_single:
        return output
    stem, ending = os.path.splitext(output)
    return f"{stem}.{target.delegate.name}{ending}"
