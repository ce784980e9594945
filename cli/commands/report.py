"""``delegate-sim report``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from delegate_sim.graph.effort import DIAGNOSIS, DRAWING, Effort
from delegate_sim.live.live_runs import run_target
from delegate_sim.model.model import Model
from delegate_sim.page.content import PageView
from delegate_sim.page.document import page
from delegate_sim.results.report.measures import TAKEN, measure
from delegate_sim.results.report.verdict import verdict
from delegate_sim.runtime.target import Target

from ..console.layout import counted, name
from ..console.output_file import output_option
from ..console.terminal import Line, width, write, write_file, write_lines
from ..models import Models, read_model
from ..options.delegate_flags import DelegateCommand
from ..options.shared import OpProfileArguments, complete_socs, op_profile_option, timed_diagnosis
from ..options.targets import TargetArguments, delegates_option, soc_targets, target_arguments
from ..text.elements.paragraphs import paragraph
from ..text.elements.verdict import plugin_lines

if TYPE_CHECKING:
    from delegate_sim.page.content import PageView

_EPILOG = """\b
Examples:
  delegate-sim report model.tflite -o report.html
  delegate-sim report model.tflite --delegate nnapi --delegate gpu -o report.html
  delegate-sim report before.tflite after.tflite --delegate gpu -o compared.html
  delegate-sim report large.tflite --no-causes -o report.html
  delegate-sim report model.tflite --micro -o report.html

The page needs only a browser, and no network. You can switch between models and targets on the page, or show two views side by
side.
If a model cannot be read, the command continues with the next model, and the exit code is 2.
"""

_VERDICTS_SHOWN = 12


@click.command("report", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@op_profile_option
@target_arguments(delegates_option("all"))
@click.option(
    "--soc",
    "socs",
    metavar="SOC",
    multiple=True,
    shell_complete=complete_socs,
    help="Add the NPU of this SoC, such as pixel10, as a target; may be given several times; all adds a SoC of each vendor.",
)
@click.option(
    "--causes/--no-causes", default=True, show_default=True, help="Whether to compute the cost of each cause, as diagnose does."
)
@output_option("The file to write.", default="report.html")
def command(
    paths: Sequence[str],
    arguments: TargetArguments,
    profiles: OpProfileArguments,
    socs: Sequence[str],
    causes: bool,
    output: str,
) -> int:
    """Write an HTML page that shows what delegates do to each MODEL: the graph, the partitions, and the reasons.

    For each target, the page has the verdict, the execution plan, the graph with the partitions, and the causes of refusals,
    biggest gain first. For each node, the page has the tensors, the reasons and what to change.
    """
    targets = soc_targets(socs, arguments)
    if arguments.delegates or arguments.names_devices or not targets:
        targets = [*arguments.targets(unnamed=(), is_live=True), *targets]
    models = Models(paths)
    profiles.check(len(models.paths))
    views = [view for of_model in models.each(lambda path: _views(models, path, targets, causes, profiles)) for view in of_model]
    if views:
        simulated = [view.run.target for view in views]
        left = [target for target in targets if target not in simulated] if models.is_single else []
        text = page(views, left, Effort(views[0].model).reason)
        write_file(output, text)
        write_lines(_verdicts(views))
        write(f"{output}: {len(views):,} {'view' if len(views) == 1 else 'views'}, {len(text.encode('utf-8')):,} bytes\n")
    return models.exit_code


def _verdicts(views: Sequence[PageView]) -> Iterator[Line]:
    has_several_models = len({id(view.model) for view in views}) > 1
    for view in views[:_VERDICTS_SHOWN]:
        model = f"{_model_name(view)}: " if has_several_models else ""
        measures = measure(view.run)
        text, is_good = verdict(view.run, measures), measures.outcome == TAKEN
        yield from paragraph(f"{model}{text}", width(), "", "  ", style="bold" if is_good else "bold red")
    if len(views) > _VERDICTS_SHOWN:
        yield Line(f"... and {counted(len(views) - _VERDICTS_SHOWN, 'more view')} on the page")
    models = {id(view.run): _model_name(view) for view in views} if has_several_models else None
    yield from plugin_lines([view.run for view in views], width(), models=models)


def _model_name(view: PageView) -> str:
    return name(os.path.basename(view.model.path or "-"))


def _views(
    models: Models,
    path: str,
    targets: Sequence[Target],
    with_causes: bool,
    profiles: OpProfileArguments,
) -> list[PageView]:
    model = read_model(path, targets)
    effort = Effort(model)
    effort.require(DRAWING, max([target.effort for target in targets], default=1))
    affordable = models.affordable(path, targets, effort)
    return [_view(model, target, effort, with_causes, profiles) for target in affordable]


def _view(
    model: Model,
    target: Target,
    effort: Effort,
    with_causes: bool,
    profiles: OpProfileArguments,
) -> PageView:
    left_out = effort.refusal(DIAGNOSIS, target.effort) if with_causes else ""
    if with_causes and target.delegate.is_live_only:
        left_out = left_out or f"{target.delegate.name} is run, not simulated, so the cost of a cause cannot be computed"
    if left_out or not with_causes:
        timings = profiles.timings(model, [target])
        return PageView(model, run_target(model, target), causes_left_out=left_out, timings=timings)
    diagnosis, times = timed_diagnosis(model, target, effort, profiles)
    return PageView(model, diagnosis.run, diagnosis, timings=() if times is None else times.timings)
