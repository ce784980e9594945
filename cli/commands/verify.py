"""``delegate-sim verify``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.foundation.limits import naming_model
from delegate_sim.inference.difference import diff_document
from delegate_sim.inference.models import compare_models

from ..console.output_file import FileCommand
from ..console.terminal import result_options, show_progress, width, write_result
from ..exits import DONE, FINDINGS
from ..models import one_path, read_model
from ..text.inference import difference_lines

_EPILOG = """\b
Examples:
  delegate-sim verify model.tflite fixed.tflite
  delegate-sim verify float.tflite int8.tflite --data inputs.npz --samples 0
  delegate-sim verify model.tflite fixed.tflite --tolerance 0.001 --format json

Both models run on this CPU with the same inputs, on one thread and without a delegate. The command needs optional packages:
pip install '.[fix]'. The exit code is 1 if an output differs by more than the tolerance. If an output has different
types in the two models, such as int8 and float32, the dequantized values are compared.
"""


@click.command("verify", cls=FileCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("first", metavar="A", type=click.Path(readable=False))
@click.argument("second", metavar="B", type=click.Path(readable=False))
@click.option("--data", metavar="FILE.npz", multiple=True, type=click.Path(), help="Inputs to run both models on.")
@click.option("--samples", type=click.IntRange(0), default=2, show_default=True, help="How many random inputs to generate.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="The largest error to ignore, as a share of the output's largest value.",
)
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every output.")
def command(
    first: str, second: str, data: Sequence[str], samples: int, tolerance: float, form: str, output: str | None, verbose: bool
) -> int:
    """Run models A and B on the same inputs, and compare each output and the latency."""
    if samples + len(data) == 0:
        raise click.UsageError("no inputs to run the models on: give --samples or --data")
    with naming_model(f"{first} or {second}"):
        models = [read_model(one_path(path)) for path in (first, second)]
        show_progress(f"running {first} and {second}")
        difference = compare_models(models[0], models[1], data, samples)
    write_result(
        form, output, lambda: diff_document(first, second, difference), lambda: difference_lines(difference, width(), verbose)
    )
    differs = bool(difference.problem) or any(tensor.different and tensor.relative > tolerance for tensor in difference.outputs)
    return FINDINGS if differs else DONE
