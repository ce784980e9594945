"""``delegate-sim export``."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from delegate_sim.bundles.formats import TASK, format_at
from delegate_sim.export import FORMATS, lowered, node_data
from delegate_sim.foundation.outputs import OutputFile, declare_outputs
from delegate_sim.foundation.printable import printable
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.effort import DRAWING, Effort
from delegate_sim.model.model import Model
from delegate_sim.prepare.preparation import prepare
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target, per_target_path, with_labels

from ..console.output_file import is_forced, output_option
from ..console.terminal import plain, width, write, write_file
from ..exits import DONE
from ..models import Models, naming_its_model, one_path, read_model
from ..options.delegate_flags import DelegateCommand
from ..options.targets import TargetArguments, delegates_option, target_arguments
from ..text.graph import lowered_lines

MODEL_EXPLORER = "model-explorer"
_LOWERED, _LOWERED_JSON = "lowered", "lowered-json"
_MODELS, _BUNDLE = "models", "bundle"
_FORMATS = (MODEL_EXPLORER, "dot", "graphml", "json", _LOWERED, _LOWERED_JSON, _MODELS, _BUNDLE)

_EFFORT_OF_A_DRAWING = 10
"""Writing the graph takes about as long as this many simulations."""

_MEDIUM = {MODEL_EXPLORER: "json", "graphml": "junit", _LOWERED: "text", _LOWERED_JSON: "json"}
"""The format to pass to ``write``, keyed by export format. GraphML needs ``junit``, because both formats are XML."""

_EPILOG = """\b
Examples:
  delegate-sim export model-explorer model.tflite -o overlay.json
  delegate-sim export model-explorer model.tflite --delegate nnapi --delegate gpu -o overlay.json
  delegate-sim export dot model.tflite --delegate gpu -o model.dot
  delegate-sim export graphml model.tflite
  delegate-sim export lowered model.tflite --delegate nnapi
  delegate-sim export models llm.litertlm -o llm
  delegate-sim export bundle llm -o changed.litertlm

'export model-explorer' writes node data for Google's Model Explorer. For several delegates, there is one file per delegate, with
the delegate's name before the suffix. Open the file with: model-explorer model.tflite --node_data_paths=overlay.json
'export lowered' and 'export lowered-json' write the models that the delegate builds from its partitions, call by call.
'export models' writes each section of a LiteRT-LM bundle, or each member of a .task file, to a file in a folder.
'export bundle' writes a bundle from this folder, and keeps the bytes of unchanged sections.
dot and json need networkx and pydot (pip install '.[export]'). In DOT, each partition is a cluster.
"""


@click.command("export", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("form", metavar="FORMAT", type=click.Choice(_FORMATS))
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@target_arguments(delegates_option())
@output_option(is_declared=False)
@naming_its_model
def command(form: str, path: str, arguments: TargetArguments, output: str | None) -> int:
    """Write the decisions of delegates on MODEL for another program, or write the sections of a bundle to files."""
    targets = arguments.targets()
    if form in (_MODELS, _BUNDLE):
        return _export_bundle(form, path, output)
    if len(targets) > 1 and output is None:
        raise click.UsageError("several delegates need several files: give --output")
    if output is not None:
        declare_outputs([OutputFile(file, is_forced()) for file in _files(output, targets)])
    model = read_model(one_path(path), targets)
    models = Models([path])
    effort = Effort(model)
    effort.require(DRAWING, max([target.effort for target in targets], default=1))
    cache = AnalysisCache()
    texts = []
    for target in models.affordable(path, targets, effort):
        effort.spend(_EFFORT_OF_A_DRAWING if form in ("dot", "graphml", "json") else 0)
        texts.append(_text(form, model, target, cache))
    if output is None:
        for text in texts:
            write(text, _MEDIUM.get(form, form))
        return models.exit_code
    for file, text in zip(_files(output, targets), texts, strict=False):
        write_file(file, text)
    return models.exit_code


def _export_bundle(form: str, path: str, output: str | None) -> int:
    from delegate_sim.bundles.task_files import is_unpacked_task, repack_task, unpack_task
    from delegate_sim.llm.packing import repack, unpack

    if output is None:
        raise click.UsageError(f"{form} needs {'a folder' if form == _MODELS else 'a file'} to write to: give --output")
    declare_outputs([OutputFile(output, is_forced(), is_folder=form == _MODELS)])
    try:
        if form == _MODELS:
            (unpack_task if format_at(path) == TASK else unpack)(path, output)
        else:
            (repack_task if is_unpacked_task(path) else repack)(path, output)
    except OSError as error:
        raise click.ClickException(printable(f"{error.filename or output}: {error.strerror or error}")) from error
    return DONE


def _text(form: str, model: Model, target: Target, cache: AnalysisCache) -> str:
    if form in (_LOWERED, _LOWERED_JSON):
        graphs = prepare(model)
        built = lowered(model, graphs, target)
        if form == _LOWERED:
            return plain(lowered_lines(built, graphs, width()))
        return json.dumps(built.to_dict(), indent=2) + "\n"
    run = simulate(model, target, cache=cache)
    if form == MODEL_EXPLORER:
        return json.dumps(node_data(run), indent=1) + "\n"
    return FORMATS[form](run)


def _files(output: str, targets: Sequence[Target]) -> list[str]:
    return [output] if len(targets) == 1 else [per_target_path(output, label) for label, _ in with_labels(targets)]
