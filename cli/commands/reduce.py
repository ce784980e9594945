"""``delegate-sim reduce``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.delegates.registry import LIVE_NAMES
from delegate_sim.foundation.files import write_chunks
from delegate_sim.live.engine import SECONDS
from delegate_sim.reduction.failures import FailureTest, LiveTest, NumbersTest, ProgramTest
from delegate_sim.reduction.reduce import reduce_model
from delegate_sim.verification.verify import PLACES

from ..console.output_file import FileCommand, Outputs, output_option
from ..console.terminal import TEXT_OR_JSON, format_option, show_progress, width, write, write_result
from ..exits import DONE
from ..models import naming_its_model, one_path, read_model
from ..options.delegate_flags import own_options
from ..options.shared import sdk_option
from ..text.reduction import reduction_lines, report_text

_EPILOG = """\b
Examples:
  delegate-sim reduce model.tflite --command '/opt/compiler {model}' -o small.tflite
  delegate-sim reduce model.tflite --command '/opt/compiler -v {model}' --match 'not supported' -o small.tflite
  delegate-sim reduce model.tflite --live xnnpack -o small.tflite
  delegate-sim reduce model.tflite --on mldrift -o small.tflite --format markdown

The failure stays the same: the same exit code, and the same first line that reports an error. Numbers and names of tensors in
this line do not count. With --match, only the text counts. The program runs without a shell in a new folder, so its arguments
need absolute paths.

The new file has generated weights and neutral names, unless the failure depends on the original ones; the result then says so.
Operators and their options, types, shapes and quantization parameters stay. --format markdown is a report to paste.
"""


@click.command("reduce", cls=FileCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@output_option("The file for the reduced model.", name="written", is_required=True, force="Replace the file if it exists.")
@click.option("--command", "program", metavar="COMMAND", help="A program that fails if its exit code is not 0.")
@click.option("--match", default="", metavar="TEXT", help="With --command: it fails if its output has this text instead.")
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=SECONDS,
    show_default=True,
    help="With --command: stop a run after this time. This is a failure as well.",
)
@click.option("--live", type=click.Choice(LIVE_NAMES), metavar="DELEGATE", help="A real delegate that does not take the model.")
@click.option("--option", "options", metavar="KEY=VALUE", multiple=True, help="With --live: an option of the delegate.")
@sdk_option
@click.option("--on", type=click.Choice(PLACES), help="A real delegate that computes wrong numbers, as verify --on finds them.")
@format_option("Text to read, JSON for programs, or Markdown for a report.", (*TEXT_OR_JSON, "markdown"))
@naming_its_model
def command(
    path: str,
    written: str,
    program: str | None,
    match: str,
    seconds: int,
    live: str | None,
    options: Sequence[str],
    sdks: Sequence[str],
    on: str | None,
    form: str,
) -> int:
    """Reduce MODEL, which fails, to the smallest model that fails with the same message."""
    if [program, live, on].count(None) != 2:
        raise click.UsageError("give one of --command, --live and --on")
    if match and program is None:
        raise click.UsageError("--match needs --command")
    if (options or sdks) and live is None:
        raise click.UsageError("--option and --sdk need --live")
    model = read_model(one_path(path))
    show_progress(f"reducing {path}")
    test: FailureTest
    if program is not None:
        test = ProgramTest(program, match, seconds)
    else:
        test = LiveTest(live, own_options(options), sdks) if live is not None else NumbersTest(str(on))
    result = reduce_model(model, test, lambda step: show_progress(f"reducing {path}: {step}"))
    write_chunks(written, [result.content])
    if form == "markdown":
        write(report_text(result, test.command, written), form)
        return DONE
    write_result(
        Outputs(form),
        lambda: {**result.to_dict(), "written": written, "command": test.command(written)},
        lambda: reduction_lines(result, test.command, written, width()),
    )
    return DONE
