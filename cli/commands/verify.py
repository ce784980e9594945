"""``delegate-sim verify``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.foundation.limits import naming_model
from delegate_sim.inference.difference import diff_document
from delegate_sim.inference.models import compare_models
from delegate_sim.verification.verify import PLACES, Verifier, verify_on

from ..console.output_file import FileCommand
from ..console.terminal import result_options, show_progress, width, write_result
from ..exits import DONE, FINDINGS
from ..models import one_path, read_model
from ..text.inference import difference_lines
from ..text.verification import verification_lines

_EPILOG = """\b
Examples:
  delegate-sim verify model.tflite fixed.tflite
  delegate-sim verify float.tflite int8.tflite --data inputs.npz --samples 0
  delegate-sim verify model.tflite fixed.tflite --tolerance 0.001 --format json
  delegate-sim verify model.tflite --on mldrift
  delegate-sim verify model.tflite --on mldrift --data inputs.npz --samples 0 --python other/bin/python

Models A and B run on this CPU with the same inputs, on one thread and without a delegate. If an output has different types in
the two models, such as int8 and float32, the dequantized values are compared.

With --on, model A runs alone: on the real delegate, and with the reference kernels of this CPU. If an output differs, parts of
the model are run to find the first node at fault. mldrift is the GPU accelerator of LiteRT. Its numbers come from a Vulkan
driver: from SwiftShader, a device in software, if there is no other ('delegate-sim doctor' says what to install).

The command needs optional packages: pip install '.[fix]'. The exit code is 1 if an output differs by more than the tolerance,
or if the delegate does not run the model.
"""


@click.command("verify", cls=FileCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("first", metavar="A", type=click.Path(readable=False))
@click.argument("second", metavar="[B]", required=False, type=click.Path(readable=False))
@click.option("--on", type=click.Choice(PLACES), help="Run only A, on this delegate and with the CPU's reference kernels.")
@click.option("--data", metavar="FILE.npz", multiple=True, type=click.Path(), help="Inputs to run the models on.")
@click.option("--samples", type=click.IntRange(0), default=2, show_default=True, help="How many random inputs to generate.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    help="The largest error to ignore, as a share of the output's largest value. Default: 0; with --on, 0.001, or 0.005 with "
    "quantized weights, or 0.01 with float16 weights.",
)
@click.option("--python", default="", metavar="PATH", help="With --on: another Python that has the package ai-edge-litert.")
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every output.")
def command(
    first: str,
    second: str | None,
    on: str | None,
    data: Sequence[str],
    samples: int,
    tolerance: float | None,
    python: str,
    form: str,
    output: str | None,
    verbose: bool,
) -> int:
    """Run models A and B on the same inputs, and compare each output and the latency. With --on, run A on a real delegate."""
    if samples + len(data) == 0:
        raise click.UsageError("no inputs to run the models on: give --samples or --data")
    if (on is None) == (second is None):
        raise click.UsageError("give two models, or one model and --on" if on is None else "with --on, only one model is run")
    if on is not None:
        return _verify_on(on, first, data, samples, tolerance, python, form, output, verbose)
    if python:
        raise click.UsageError("--python needs --on")
    assert second is not None
    with naming_model(f"{first} or {second}"):
        models = [read_model(one_path(path)) for path in (first, second)]
        show_progress(f"running {first} and {second}")
        difference = compare_models(models[0], models[1], data, samples)
    write_result(
        form, output, lambda: diff_document(first, second, difference), lambda: difference_lines(difference, width(), verbose)
    )
    allowed = tolerance or 0.0
    differs = bool(difference.problem) or any(tensor.different and tensor.relative > allowed for tensor in difference.outputs)
    return FINDINGS if differs else DONE


def _verify_on(
    on: str,
    path: str,
    data: Sequence[str],
    samples: int,
    tolerance: float | None,
    python: str,
    form: str,
    output: str | None,
    verbose: bool,
) -> int:
    with naming_model(path):
        model = read_model(one_path(path))
        show_progress(f"running {path} on {on}")
        result = verify_on(Verifier(on, python), model, data, samples, tolerance)
    write_result(form, output, result.to_dict, lambda: verification_lines(result, width(), verbose))
    return DONE if result.is_right else FINDINGS
