"""``delegate-sim diagnose``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from delegate_sim.diagnosis.diagnose import Choice, find_open_question
from delegate_sim.diagnosis.diagnosis import Diagnosis
from delegate_sim.graph.effort import Effort
from delegate_sim.runtime.target import Target, target_names

from ..console.layout import counted
from ..console.output_file import Outputs
from ..console.terminal import Line, add_first_line, table_options, width, write_result
from ..models import STANDARD_INPUT, Models, Unreadable, print_not_simulated, read_model, unreadable_entry
from ..options.delegate_flags import DelegateCommand
from ..options.shared import OpProfileArguments, op_profile_option, timed_diagnosis
from ..options.targets import TargetArguments, delegates_option, target_arguments
from ..text.best_changes import best_lines
from ..text.diagnose import diagnosis_lines
from ..text.diagnoses import overview_lines
from ..text.many import details_hint, unanswered_lines

if TYPE_CHECKING:
    from delegate_sim.model.model import Model
    from delegate_sim.timing.fixes import FixTimes

_EPILOG = """\b
Examples:
  delegate-sim diagnose model.tflite
  delegate-sim diagnose model.tflite --delegate gpu --delegate nnapi
  delegate-sim diagnose a.tflite b.tflite --delegate all
  delegate-sim diagnose models --delegate gpu --format csv --output causes.csv
  delegate-sim diagnose model.tflite --delegate nnapi --feature-level 30 --driver-rejects MEAN
  delegate-sim diagnose model.tflite --format json --output causes.json
  delegate-sim diagnose model.tflite --micro

Each fix is simulated. If the cause is an unknown size, a type or an operator version, the command simulates the model that the
converter would write. If the cause is the feature level or a limit on partitions, the command changes the option that sets the
level or the limit. For all other causes, the command assumes that the delegate accepts the nodes. Multiply-adds and bytes are
counts, not an estimate of latency.
For several models or delegates, the output is a table with the best changes, and JSON output is an array. --verbose shows all
details. If a model cannot be read, the command continues with the next model, and the exit code is 2.
"""


@click.command("diagnose", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@op_profile_option
@target_arguments(delegates_option("the configuration's, else the best open one"))
@table_options
@click.option("-v", "--verbose", is_flag=True, help="Show every cause and node; leave nothing out.")
def command(
    paths: Sequence[str],
    arguments: TargetArguments,
    profiles: OpProfileArguments,
    outputs: Outputs,
    verbose: bool,
) -> int:
    """Show what keeps nodes of each MODEL off a delegate, what each cause costs, and what to change.

    A cause groups all nodes that one change would free. Causes are, for example, inputs of unknown size, a converter setting, a
    shape, a type or the driver. Causes are ranked by the multiply-adds that a fix would delegate, then by kernels and boundary
    bytes. For each cause, the output shows two results: with only this cause fixed, and with this and all earlier causes fixed.
    """
    models = Models(paths)
    profiles.check(len(models.paths))
    is_described = arguments.names_delegate or arguments.several or profiles.paths
    targets = arguments.targets() if is_described else arguments.configured()
    is_single = models.is_single and len(targets) <= 1

    def take(path: str) -> list[_Answer]:
        model = read_model(path, targets)
        effort = Effort(model)
        asked = targets or [_open_question(model, arguments.targets(unnamed=()), effort, is_named=is_single)]
        labels = [""] if is_single else target_names(asked)
        return [
            _answer(*timed_diagnosis(model, target, effort, profiles), outputs.form, verbose, label)
            for label, target in zip(labels, models.affordable(path, asked, effort), strict=False)
        ]

    answers = [answer for of_model in models.each(take) for answer in of_model]
    entries = [answer.entry for answer in answers]
    entries += map(unreadable_entry, models.unreadable) if outputs.form == "json" else []
    if answers or outputs.form != "text":  # otherwise standard error already has every message
        whole = entries[0] if models.is_single and len(entries) == 1 else entries
        lines = partial(_lines, answers, models.unreadable, is_single)
        write_result(outputs, lambda: whole, lines, lambda: _sheet(answers, models.unreadable))
    return models.exit_code


_CHOICES = {
    Choice.NOT_STARTED: "it does not start, because inputs have unknown sizes",
    Choice.LARGEST_SHARE: "of {compared} that leave nodes on the CPU, it runs the largest share",
    Choice.NOTHING_OPEN: "it runs the whole model ({compared} can)",
}


def _open_question(model: Model, targets: Sequence[Target], effort: Effort, *, is_named: bool) -> Target:
    question = find_open_question(model, targets, effort)
    if is_named:
        reason = _CHOICES[question.choice].format(compared=counted(question.compared, "accelerator"))
        name = question.target.delegate.name
        add_first_line(f"Target {name}: {reason}. To choose another: --delegate NAME or --device NAME")
    return question.target


@dataclass(frozen=True, slots=True)
class _Answer:
    diagnosis: Diagnosis
    times: FixTimes | None
    entry: Any
    lines: Sequence[Line]


def _sheet(answers: Sequence[_Answer], unreadable: Sequence[Unreadable]) -> str:
    from ..formats.sheets import diagnosis_sheet

    for answer in answers:
        diagnosis = answer.diagnosis
        path = diagnosis.model.path or STANDARD_INPUT
        print_not_simulated(path, diagnosis.target.delegate.name, diagnosis.not_simulated)
    return diagnosis_sheet([(answer.diagnosis, answer.times) for answer in answers], unreadable)


def _answer(diagnosis: Diagnosis, times: FixTimes | None, form: str, verbose: bool, label: str) -> _Answer:
    if form == "json":
        return _Answer(diagnosis, times, diagnosis.to_dict(), ())
    has_details = form == "text" and (not label or verbose)
    lines = list(diagnosis_lines(diagnosis, width(), verbose, label=label, times=times)) if has_details else []
    return _Answer(diagnosis, times, None, lines)


def _lines(answers: Sequence[_Answer], unreadable: Sequence[Unreadable], is_single: bool) -> Iterator[Line]:
    if is_single:
        yield from answers[0].lines
        return
    yield from overview_lines([answer.diagnosis for answer in answers], [model.path for model in unreadable], width())
    for answer in answers:
        if answer.lines:
            yield Line("")
            yield from answer.lines
    if not any(answer.lines for answer in answers):
        yield Line("")
        yield from best_lines([answer.diagnosis for answer in answers], width())
        yield from details_hint()
    yield from unanswered_lines([model.message for model in unreadable], width())
