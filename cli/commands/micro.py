"""``delegate-sim micro``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.micro.delegate import micro_target
from delegate_sim.micro.target import KERNELS, PACKAGE
from delegate_sim.runtime.target import Target

from ..answers import output_options
from ..console.output_file import FileCommand, Outputs, gathered, output_option
from ..console.terminal import width
from ..models import Models
from ..options.shared import OpProfileArguments
from ..text.analysis.view import View
from .analyze.analysis import single, write_analyses

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
@click.option(
    "--resolver",
    metavar="FILE",
    type=click.Path(readable=False),
    help="The C++ source that registers the application's operators.",
)
@click.option(
    "--kernels",
    type=click.Choice(KERNELS),
    default=KERNELS[0],
    show_default=True,
    help="The kernels that the application links.",
)
@click.option(
    "--runtime",
    metavar="RELEASE",
    show_default=PACKAGE,
    help="The copy of the runtime: a version of tflite-micro, a day or a commit.",
)
@output_options
@output_option()
@click.option("-v", "--verbose", is_flag=True, help="Show every node and every buffer of the arena; leave nothing out.")
@gathered("target", micro_target)
@gathered("outputs", Outputs)
def command(paths: Sequence[str], target: Target, outputs: Outputs, verbose: bool) -> int:
    """Show whether TensorFlow Lite Micro runs each MODEL.

    The output lists all operators that the resolver lacks and all nodes that a kernel refuses. The runtime itself stops at the
    first problem. The output also shows the arena that the model needs, and the lines that register the model's operators.
    """
    view = View(width(), verbose, names_commands=True)
    return write_analyses(Models(paths), single([target], names_fixes=True), view, outputs, OpProfileArguments())
