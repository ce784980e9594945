"""``delegate-sim sweep``."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from delegate_sim.conversion.cache import ConversionCache, default_folder
from delegate_sim.conversion.calibration import find_calibration
from delegate_sim.conversion.converters import Limits, find_converters, routes
from delegate_sim.conversion.settings import parse_settings
from delegate_sim.conversion.sources import SourceKind, SourceModel, find_source
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.errors import FixError
from delegate_sim.foundation.outputs import OutputFile, declare_outputs
from delegate_sim.foundation.printable import printable
from delegate_sim.model.reader import load
from delegate_sim.runtime.target import with_labels
from delegate_sim.sweeping.rows import MAX_DIFFERENCE
from delegate_sim.sweeping.search import parse_shapes
from delegate_sim.sweeping.sweep import sweep
from delegate_sim.sweeping.sweep_result import SweepRequest, Swept, write_best

from ..console.layout import counted
from ..console.output_file import OutputPath, Outputs, gathered, is_forced, output_option
from ..console.terminal import format_option, print_on_stderr, show_progress, width, write, write_file, write_result
from ..exits import DONE, INTERRUPTED, USAGE
from ..options.delegate_flags import DelegateCommand
from ..options.numbers import FiniteRange
from ..options.targets import TargetArguments, delegates_option, target_arguments
from ..text.sweep import best_rows, sweep_lines

if TYPE_CHECKING:
    from delegate_sim.page.content import PageView

FORMATS = ("text", "json", "csv", "markdown")
_GIB = 1 << 30

_EPILOG = """\b
Examples:
  delegate-sim sweep model.keras --delegate nnapi --delegate gpu
  delegate-sim sweep saved_model --delegate nnapi --android 13 --setting int8 --data inputs.npz
  delegate-sim sweep model.onnx --delegate gpu --delegate npu-google --python onnx/bin/python --report page.html
  delegate-sim sweep model.keras --best-for nnapi -o model.tflite

SOURCE is a SavedModel folder, a .keras, .h5, .onnx or .pt2 file, or a function that returns a model (module:function, or
file.py:function). The converters must be installed in the Python of delegate-sim, or in a Python that --python names. A
conversion is not chosen as the best if its outputs differ by more than --max-difference, or after calibration with random data.
The exit code is 2 if no conversion gives a model, and 130 after Ctrl-C.
"""


class _Best(NamedTuple):
    best_for: str | None
    written: str | None


class _Table(NamedTuple):
    form: str
    shown: Sequence[int]
    no_code: bool


def _request(
    everything: bool,
    settings: Sequence[str],
    shapes: Sequence[str],
    data: str | None,
    max_difference: float,
    time_limit: float | None,
    memory_limit: float | None,
) -> SweepRequest:
    limits = Limits()
    return SweepRequest(
        tuple(map(parse_settings, settings)),
        everything,
        find_calibration(data),
        Limits(time_limit or limits.seconds, round(memory_limit * _GIB) if memory_limit else limits.memory),
        parse_shapes(shapes),
        max_difference,
    )


def _cache_folder(cache: str | None, no_cache: bool) -> str | None:
    if cache is not None and no_cache:
        raise click.UsageError("give either --cache or --no-cache")
    return None if no_cache else cache or default_folder()


@click.command("sweep", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("source_text", metavar="SOURCE")
@delegates_option(description="A delegate to compare the conversions on.")
@click.option("--all", "everything", is_flag=True, help="Try every setting of the converters.")
@click.option("--setting", "settings", metavar="NAME", multiple=True, help="Also try a setting, such as int8+dense-per-tensor.")
@click.option("--shape", "shapes", metavar="INPUT=SIZES", multiple=True, help="Fix an input's shape: input=1,224,224,3.")
@click.option(
    "--data",
    metavar="DATA",
    help="Data for calibration and comparison: a .npz file with an array for each input, a folder of images, or a function.",
)
@click.option(
    "--max-difference",
    metavar="SHARE",
    type=FiniteRange(0),
    default=MAX_DIFFERENCE,
    show_default=True,
    help="The largest difference from the float model's outputs.",
)
@click.option("--best-for", metavar="TARGET", help="Write the best model for this target to the file of -o.")
@output_option("The file for the model of --best-for.", name="written", is_declared=False, force="Replace the file if it exists.")
@click.option("--report", "page", metavar="FILE.html", type=OutputPath(is_declared=False), help="Also write a page.")
@click.option("--run-model-code", is_flag=True, help="Let converters run code in SOURCE.")
@click.option("--python", "pythons", metavar="PATH", multiple=True, help="A Python in which converters are installed.")
@click.option("--time-limit", metavar="SECONDS", type=FiniteRange(0, min_open=True), help="The time limit of each step.")
@click.option("--memory-limit", metavar="GIB", type=FiniteRange(0, min_open=True), help="The memory limit of a conversion.")
@click.option("--cache", metavar="FOLDER", type=click.Path(), help="The folder to cache conversions in.")
@click.option("--no-cache", is_flag=True, help="Do not use the cache of conversions.")
@target_arguments()
@format_option("The format of the table.", FORMATS)
@click.option(
    "--show-code", "shown", metavar="ROW", type=click.IntRange(1), multiple=True, help="Also show the code of this row."
)
@click.option("--no-code", is_flag=True, help="Do not show the code of the best rows.")
@gathered("request", _request)
@gathered("cache", _cache_folder)
@gathered("best", _Best)
@gathered("table", _Table)
def command(
    source_text: str,
    arguments: TargetArguments,
    request: SweepRequest,
    cache: str | None,
    pythons: Sequence[str],
    run_model_code: bool,
    best: _Best,
    page: str | None,
    table: _Table,
) -> int:
    """Convert SOURCE in many ways, and show how much of each converted model the delegates take.

    Converting can run the model's code, so convert only sources that you trust. Code in a file, such as a Lambda layer, is
    refused without --run-model-code.
    """
    targets = arguments.targets()
    if (best.best_for is None) != (best.written is None):
        raise click.UsageError("--best-for TARGET and -o FILE must be given together")
    labels = [target.label for target in with_labels(targets)]
    if best.best_for is not None and best.best_for not in labels:
        raise click.UsageError(f"--best-for takes a target of this sweep ({', '.join(labels)}), not {best.best_for}")
    source = find_source(source_text, run_model_code=run_model_code)
    declare_outputs([OutputFile(path, is_forced()) for path in (best.written, page) if path is not None])
    click.echo(_code_line(source), err=True)
    with ConversionCache(cache) as kept:
        swept = sweep(source, targets, routes(source, find_converters(pythons or None)), kept, request, _show)
        for number in [number for number in table.shown if number > len(swept.rows)]:
            raise click.UsageError(f"--show-code: there is no row {number}; there are {len(swept.rows)}")
        written, error = _write_best(swept, best)
        _write_table(swept, table, written)
        if swept.is_interrupted:
            return INTERRUPTED
        if error is not None:
            raise error
        if page is not None and swept.models:
            _tell(table.form, f"{page}: {counted(_write_page(swept, page), 'view')}")
    return DONE if swept.models else USAGE


def _code_line(source: SourceModel) -> str:
    name = printable(source.text)
    if source.kind is SourceKind.FUNCTION:
        return f"Converting can run the model's code: {name} is code, and it runs."
    if source.may_run_code:
        return f"Converting can run the model's code: the code in {name} is allowed, and it runs."
    return f"Converting can run the model's code: if {name} has code, it is refused (--run-model-code allows it)."


def _show(done: int, left: int, name: str) -> None:
    show_progress(f"{done:,} of at least {done + left:,}: {name}", done / (done + left))


def _write_best(swept: Swept, best: _Best) -> tuple[str, FixError | None]:
    if best.best_for is None or best.written is None or swept.is_interrupted:
        return "", None
    try:
        size = write_best(swept, best.best_for, best.written, replaces=is_forced())
    except FixError as error:
        return "", error
    return f"{best.written}: the best model for {best.best_for}, {size:,} bytes", None


def _write_table(swept: Swept, table: _Table, written: str) -> None:
    form, shown, with_code = table.form, table.shown, not table.no_code
    from ..formats.sheets import conversions_markdown, conversions_sheet

    if form == "markdown":
        write(conversions_markdown(swept, shown, with_code))
    else:
        lines = partial(sweep_lines, swept, width(), shown, with_code, written)
        write_result(Outputs(form), swept.to_dict, lines, partial(conversions_sheet, swept))
    if written and form != "text":
        _tell(form, written)


def _tell(form: str, text: str) -> None:
    """Print a message about a written file. If the sweep's table is not text, print the message on standard error."""
    if form == "text":
        write(f"{text}\n")
    else:
        print_on_stderr(text)


def _write_page(swept: Swept, path: str) -> int:
    from delegate_sim.page.document import page

    with tempfile.TemporaryDirectory() as folder:
        views = list(_views(swept, folder))
        write_file(path, page(views))
    return len(views)


def _views(swept: Swept, folder: str) -> Iterator[PageView]:
    """Yield page views of the first model and of the best models, one view for each model and target."""
    from delegate_sim.page.content import PageView

    best = {row.number for row in (*swept.models[:1], *best_rows(swept), *[row for row in swept.rows if row.is_best])}
    for row in swept.models:
        if row.number not in best:
            continue
        name = row.conversion.settings.name.replace("/", "_").replace(os.sep, "_")
        path = Path(folder, f"{row.number} {name}.tflite")
        shutil.copyfile(row.conversion.path, path)
        model = load(path)
        for target in swept.targets:
            diagnosis = diagnose(model, target.target)
            yield PageView(model, diagnosis.run, diagnosis)
