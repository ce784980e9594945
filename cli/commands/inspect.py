"""``delegate-sim inspect``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import click

from delegate_sim.apps.app import is_app, read_app
from delegate_sim.bundles.formats import LITERTLM, format_at
from delegate_sim.delegates.registry import MICRO_NAME
from delegate_sim.export import lowered
from delegate_sim.foundation.columns import Declared
from delegate_sim.graph.effort import SIMULATION, Effort
from delegate_sim.graph.graph import Graph, Inspected, file_graphs
from delegate_sim.llm.contents import read_contents
from delegate_sim.model.model import Model
from delegate_sim.prepare.preparation import prepare
from delegate_sim.releases.catalogue import Release, parse_release

from ..answers import Answer, ModelTable, write_all
from ..console.output_file import Outputs
from ..console.terminal import Line, result_options, width
from ..models import Models, read_model
from ..options.delegate_flags import DelegateCommand
from ..options.targets import ONE_DELEGATE_OPTION, TargetArguments, target_arguments
from ..text.graph import lowered_lines, model_lines
from ..text.many import INSPECTED, Columns, inspected_row

_ASSUMES = "assume_ops_registered"
_Contents = TypeVar("_Contents", bound=Declared)
_EPILOG = """\b
Examples:
  delegate-sim inspect model.tflite
  delegate-sim inspect model.tflite --file-shapes --subgraph 1
  delegate-sim inspect model.tflite --format json
  delegate-sim inspect llm.litertlm
  delegate-sim inspect app.apk
"""


@click.command("inspect", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@click.option("--subgraph", metavar="N", type=int, help="Only this subgraph.")
@click.option("--file-shapes", is_flag=True, help="Show the shapes, types and allocations in the model file.")
@click.option("--lowered", "lowered_models", is_flag=True, hidden=True)
@target_arguments(ONE_DELEGATE_OPTION)
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every node. Without this option, four or more models give a table.")
def command(
    paths: Sequence[str],
    subgraph: int | None,
    file_shapes: bool,
    lowered_models: bool,
    arguments: TargetArguments,
    outputs: Outputs,
    verbose: bool,
) -> int:
    """Show the graph of each MODEL as delegates see it.

    Most delegates see the graph after Prepare, when the shapes of results are known. Delegates that take dynamic tensors see the
    shapes in the model file (--file-shapes). Each tensor has a type, a shape and an allocation: constant (in the file),
    persistent (computed once), arena, variable or dynamic.

    For a LiteRT-LM bundle, show the sections and their requirements. For an Android application (APK, AAB) or library (AAR), show
    which libraries and manifest entries accelerators need, and which of them are in the file. With --verbose, show the graphs of
    the models instead.
    """
    if not (lowered_models or verbose or file_shapes or subgraph is not None):
        if {*map(format_at, paths)} == {LITERTLM}:
            from ..text.bundles import CONTENTS, contents_lines, contents_row

            return _inspect_whole(paths, outputs, CONTENTS, read_contents, contents_lines, contents_row)
        if all(map(is_app, paths)):
            from ..text.scan import APP_COLUMNS, app_lines, app_row

            return _inspect_whole(paths, outputs, APP_COLUMNS, read_app, app_lines, app_row)
    target = arguments.target() if lowered_models else None
    release = parse_release(arguments.runtime)
    shapes = "file" if file_shapes else "prepared"

    def answer(path: str) -> Answer:
        model, graphs = _graphs(path, subgraph, file_shapes, release)
        if target is not None:
            built = lowered(model, graphs, target)
            return Answer(
                lambda: [built.to_dict()], lambda: lowered_lines(built, graphs, width()), lambda: [inspected_row(model, graphs)]
            )
        return Answer(
            lambda: [Inspected(model, graphs, shapes).to_dict()],
            lambda: model_lines(model, graphs, shapes, width(), release),
            lambda: [inspected_row(model, graphs)],
        )

    return write_all(Models(paths), outputs, ModelTable(INSPECTED, is_left_out=verbose), answer)


def _inspect_whole(
    paths: Sequence[str],
    outputs: Outputs,
    columns: Columns,
    read: Callable[[str], _Contents],
    lines: Callable[[_Contents, int], Iterable[Line]],
    row: Callable[[_Contents], Sequence[str]],
) -> int:
    """Write the contents of bundles or applications, without the graphs of their models."""

    def answer(path: str) -> Answer:
        contents = read(path)
        return Answer(lambda: [contents.to_dict()], lambda: lines(contents, width()), lambda: [row(contents)])

    return write_all(Models(paths, are_bundles=True), outputs, ModelTable(columns, is_left_out=False), answer)


def _graphs(path: str, subgraph: int | None, file_shapes: bool, release: Release) -> tuple[Model, tuple[Graph, ...]]:
    model = read_model(path)
    Effort(model).require(SIMULATION)
    graphs = tuple(file_graphs(model) if file_shapes else prepare(model, release=release))
    if subgraph is None:
        return model, graphs
    if not 0 <= subgraph < len(graphs):
        raise click.ClickException(f"{path}: has no subgraph {subgraph}; the last is {len(graphs) - 1}")
    return model, (graphs[subgraph],)


# Only the former option --lowered uses the options of targets, and only for delegates. So the help does not show them.
command.params = [parameter for parameter in command.params if parameter.name != MICRO_NAME]
for _parameter in command.params:
    if isinstance(_parameter, click.Option) and _parameter.name in ("delegate", "pairs", "release", "defaults", _ASSUMES):
        _parameter.hidden = True
