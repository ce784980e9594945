"""``delegate-sim verify``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.foundation.limits import naming_model
from delegate_sim.inference.difference import diff_document
from delegate_sim.inference.models import compare_models
from delegate_sim.verification.half_precision import half_precision
from delegate_sim.verification.verify import PLACES, Verifier, verify_on

from ..console.output_file import FileCommand, Outputs
from ..console.terminal import result_options, show_progress, width, write_result
from ..exits import DONE, FINDINGS
from ..models import one_path, read_model
from ..options.numbers import FiniteRange
from ..text.inference import difference_lines
from ..text.verification import precision_lines, verification_lines

_EPILOG = """\b
Examples:
  delegate-sim verify model.tflite fixed.tflite
  delegate-sim verify float.tflite int8.tflite --data inputs.npz --samples 0
  delegate-sim verify model.tflite fixed.tflite --tolerance 0.001 --format json
  delegate-sim verify model.tflite --on mldrift
  delegate-sim verify model.tflite --on mldrift --data inputs.npz --samples 0 --python other/bin/python
  delegate-sim verify model.tflite --precision fp16 --data inputs.npz --samples 0

Models A and B run on this CPU with the same inputs, on one thread and without a delegate. If an output has different types in
the two models, such as int8 and float32, the dequantized values are compared.

With --on, model A runs alone: on the real delegate, and with the reference kernels of this CPU. If an output differs, parts of
the model are run to find the first node at fault. mldrift is the GPU accelerator of LiteRT. Its numbers come from a Vulkan
driver: from SwiftShader, a device in software, if there is no other ('delegate-sim doctor' says what to install).

With --precision fp16, model A runs alone on this CPU, in float32. The result says which values float16 cannot hold.

The command needs optional packages: pip install '.[fix]'. The exit code is 1 if an output differs by more than the tolerance,
if no output depends on the inputs, if the delegate runs no node or does not run the model, or if float16 cannot hold a value.
"""


@click.command("verify", cls=FileCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("first", metavar="A", type=click.Path(readable=False))
@click.argument("second", metavar="[B]", required=False, type=click.Path(readable=False))
@click.option("--on", type=click.Choice(PLACES), help="Run only A, on this delegate and with the CPU's reference kernels.")
@click.option("--precision", type=click.Choice(("fp16",)), help="Run only A on the CPU, and report values that do not fit.")
@click.option("--data", metavar="FILE.npz", multiple=True, type=click.Path(), help="Inputs to run the models on.")
@click.option("--samples", type=click.IntRange(0), default=2, show_default=True, help="How many random inputs to generate.")
@click.option(
    "--tolerance",
    type=FiniteRange(0),
    help="The largest error to ignore, as a share of the output's largest value. Default: 0; with --on, 0.001, or 0.005 with "
    "quantized weights, or 0.01 with float16 weights.",
)
@click.option("--python", default="", metavar="PATH", help="With --on or --precision: another Python with ai-edge-litert.")
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every output.")
def command(
    first: str,
    second: str | None,
    on: str | None,
    precision: str | None,
    data: Sequence[str],
    samples: int,
    tolerance: float | None,
    python: str,
    outputs: Outputs,
    verbose: bool,
) -> int:
    """Run models A and B on the same inputs, and compare each output and the latency. With --on, run A on a real delegate."""
    if samples + len(data) == 0:
        raise click.UsageError("no inputs to run the models on: give --samples or --data")
    if [second, on, precision].count(None) != 2:
        raise click.UsageError("give a second model, --on or --precision, and only one of them")
    if python and second is not None:
        raise click.UsageError("--python needs --on or --precision")
    if second is not None:
        return _compare(first, second, data, samples, tolerance or 0.0, outputs, verbose)
    with naming_model(first):
        model = read_model(one_path(first))
        show_progress(f"running {first} on {on or 'this CPU'}")
        if on is None:
            report = half_precision(model, data, samples, python=python)
            write_result(outputs, report.to_dict, lambda: precision_lines(report, width(), verbose))
            return DONE if report.is_right else FINDINGS
        result = verify_on(Verifier(on, python), model, data, samples, tolerance)
        write_result(outputs, result.to_dict, lambda: verification_lines(result, width(), verbose))
        return DONE if result.is_right and not result.shows_nothing else FINDINGS


def _compare(
    first: str, second: str, data: Sequence[str], samples: int, tolerance: float, outputs: Outputs, verbose: bool
) -> int:
    with naming_model(f"{first} or {second}"):
        models = [read_model(one_path(path)) for path in (first, second)]
        show_progress(f"running {first} and {second}")
        difference = compare_models(models[0], models[1], data, samples)
    write_result(
        outputs, lambda: diff_document(first, second, difference), lambda: difference_lines(difference, width(), verbose)
    )
    differs = bool(difference.problem) or any(tensor.different and tensor.relative > tolerance for tensor in difference.outputs)
    return FINDINGS if differs or difference.shows_nothing else DONE
