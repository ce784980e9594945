"""``delegate-sim micro``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.micro.report import MicroAnswer, analyze
from delegate_sim.micro.target import MicroTarget

from ..answers import Answer, ModelTable, write_answers
from ..console.output_file import FileCommand
from ..console.terminal import result_options, width
from ..models import Models, read_model
from ..options.micro_target import micro_target_options
from ..text.micro import micro_columns, micro_lines, micro_row

_EPILOG = """\b
Examples:
  delegate-sim micro model.tflite
  delegate-sim micro model.tflite --resolver main.cc
  delegate-sim micro model.tflite --kernels cmsis-nn --format json

The exit code is 1 if the runtime cannot run a model, or if a model has weights outside the flatbuffer. The runtime does not read
these weights.
"""


@click.command("micro", cls=FileCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@micro_target_options
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every buffer of the arena; leave nothing out.")
def command(paths: Sequence[str], target: MicroTarget, form: str, output: str | None, verbose: bool) -> int:
    """Show whether TensorFlow Lite Micro runs each MODEL.

    The output lists all operators that the resolver lacks and all nodes that a kernel refuses. The runtime itself stops at the
    first problem. The output also shows the arena that the model needs, and the lines that register the model's operators.
    """
    models = Models(paths)
    is_running = True

    def answer(path: str) -> Answer:
        nonlocal is_running
        model = read_model(path, any_identifier=True)
        result = MicroAnswer(model, analyze(model, target))
        is_running = is_running and result.report.computes
        return Answer(
            lambda: [result.to_dict()],
            lambda: micro_lines(result, width(), verbose),
            lambda: [micro_row(result)],
        )

    code = write_answers(models, form, output, ModelTable(micro_columns(), verbose), answer)
    return code or (0 if is_running else 1)
