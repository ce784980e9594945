"""``delegate-sim scan``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import click

from delegate_sim.apps.app import is_app, read_app
from delegate_sim.delegates.options import parse_options
from delegate_sim.errors import LimitError, ModelError
from delegate_sim.live.live_runs import require_engines
from delegate_sim.runtime.target import releases_of
from delegate_sim.scan.job import TargetSpec
from delegate_sim.scan.output import format_for
from delegate_sim.scan.scan import Workers, scan, usable_cores

from ..console.output_file import OutputPath
from ..console.terminal import show_progress, width, write_lines
from ..exits import DONE, INTERNAL_ERROR, INTERRUPTED, USAGE
from ..models import STANDARD_INPUT, model_paths, require_models
from ..options.delegate_flags import DelegateCommand
from ..options.targets import TargetArguments, delegates_option, runtime_option, target_arguments
from ..text.scan import scan_lines, unmet_lines

_EPILOG = """\b
Examples:
  delegate-sim scan models -o zoo.parquet
  delegate-sim scan models app.apk llm.task --delegate nnapi --delegate gpu -o zoo.csv
  delegate-sim scan 'zoo/**/*.zip' --delegate all --processes 8 -o zoo.sqlite
  delegate-sim scan models --delegate nnapi --runtime litert-2.1.3 --runtime litert-2.3 -o zoo.jsonl
  delegate-sim scan /mnt/zoo --scheduler tcp://head:8786 -o zoo.parquet

The suffix of the output selects the format. The table has a row for each model and target. A second table has a row for each
cause. The second table is in the same SQLite file, or in NAME.causes.SUFFIX. If you repeat a scan, only new or changed models
are simulated. If the rules of a target changed, all models are simulated on this target again. If a model cannot be read, its row
has the error, and the exit code is 2 (70 after an internal error). After Ctrl-C, the output has the results so far. Run the same
command again to continue.
"""

_RELEASES = runtime_option("The release of the runtime; may be given several times.", name="releases")


@click.command("scan", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(readable=False))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=OutputPath(is_declared=False),
    help="The output: *.parquet, .csv, .jsonl or .sqlite.",
)
@target_arguments(delegates_option("all"), runtime=(_RELEASES,))
@click.option("--processes", metavar="N", type=click.IntRange(1), help="The number of processes; by default, one for each core.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of a Dask scheduler: tcp://HOST:PORT.")
def command(
    paths: Sequence[str],
    output: str,
    arguments: TargetArguments,
    releases: Sequence[str],
    processes: int | None,
    scheduler: str | None,
) -> int:
    """Simulate every model below each PATH on every target, and write the results to a table.

    A PATH is a model, a folder, a pattern, an archive (zip, tar), an application (APK, AAB, AAR) or a bundle (.task, .litertlm).
    For a named application, also name the libraries and manifest entries that its accelerators lack.
    """
    if scheduler is not None and processes is not None:
        raise click.UsageError("--processes applies only to this machine: leave it out with --scheduler")
    if STANDARD_INPUT in paths:
        raise click.UsageError("a scan takes files, not standard input")
    format_for(output)
    targets = _targets(arguments, releases, scheduler)
    models = model_paths(paths)
    for path in [path for path in models if path in paths]:  # a name that was found in a folder is no pattern
        require_models(path)
    engine = Workers(min(processes or usable_cores(), len(models)), scheduler)
    outcome = scan(models, targets, output, engine, _shower())
    write_lines(scan_lines(outcome, output, len(models), width()))
    apps = []
    for path in filter(is_app, dict.fromkeys(paths)):  # applications in folders are left out, as they may be many
        with suppress(LimitError, ModelError):
            apps.append(read_app(path))
    write_lines(unmet_lines(apps, width()))
    if outcome.is_interrupted:
        return INTERRUPTED
    if outcome.has_fault:
        return INTERNAL_ERROR
    return USAGE if outcome.totals.failed_models else DONE


def _targets(arguments: TargetArguments, releases: Sequence[str], scheduler: str | None) -> list[TargetSpec]:
    given = [pair for single in arguments.each_value() for pair in single.applications((), is_live=True)]
    if scheduler is None:
        require_engines([delegate for delegate, _ in given])
    for delegate, own in given:
        parse_options(delegate.name, delegate.options, own, arguments.defaults)
    specs = [
        TargetSpec(
            delegate.name,
            tuple(sorted(own.items())),
            str(own_release),
            arguments.defaults,
            arguments.assume_ops_registered,
        )
        for release in dict.fromkeys(releases)
        for (delegate, own), own_release in zip(given, releases_of([delegate for delegate, _ in given], release), strict=True)
    ]
    return list(dict.fromkeys(specs))


def _shower() -> Callable[[int, int], None]:
    start = time.monotonic()

    def show(done: int, total: int) -> None:
        seconds = time.monotonic() - start
        rate = done / seconds if seconds else 0.0
        left = f", {(total - done) / rate:,.0f} s left" if rate else ""
        show_progress(f"{done:,} of {total:,} models, {rate:,.1f} a second{left}", done / total if total else 1.0)

    return show
