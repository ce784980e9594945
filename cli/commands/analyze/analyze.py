"""``delegate-sim analyze``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import click

from delegate_sim.bundles.formats import LITERTLM, format_at
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, MICRO_NAME
from delegate_sim.foundation.printable import printable
from delegate_sim.releases.catalogue import RELEASES
from delegate_sim.runtime.target import Target

from ...answers import CARD, output_options
from ...console.output_file import Outputs, gathered, output_option
from ...console.terminal import Line, width, write_lines
from ...models import STANDARD_INPUT, Models, model_paths
from ...options.delegate_flags import ALL_DELEGATES, DelegateCommand
from ...options.shared import (
    AcceleratorArguments,
    LiveArguments,
    accelerator_options,
    live_options,
    op_profile_option,
    sdk_option,
)
from ...options.targets import delegates_option, is_given, runtime_option, target_arguments
from ...text.analysis.view import View
from .analysis import AnalysisJob, Request, chain, overview, single, write_analyses

_EPILOG = """\b
Examples:
  delegate-sim analyze model.tflite
  delegate-sim analyze model.tflite --delegate nnapi --android 11 --runtime tf-2.15
  delegate-sim analyze model.tflite --format card -o card.png
  delegate-sim analyze model.tflite --soc pixel10 --soc mediatek:mt6991
  delegate-sim analyze llm.litertlm --option backend=gpu --option vision=gpu

A card is a picture of all results: .svg, .md or .png (needs '.[report]').

A MODEL is a file, a folder, a pattern such as 'models/**/*.tflite', or - for standard input. For several models, JSON output is
an array. For four or more, text output is a table. If a model cannot be read, the exit code is 2.
"""


def _spans(releases: Iterable[str]) -> str:
    families: dict[str, list[str]] = {}
    for release in releases:
        families.setdefault(release.partition("-")[0], []).append(release)
    return " or ".join([f"{family[0]} to {family[-1]}" for family in families.values()])


@click.command("analyze", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@delegates_option("an overview of all")
@click.option("--chain", "is_chain", is_flag=True, help="Apply each delegate to what the others left.")
@accelerator_options
@click.option(
    f"--default-{APPLIED_BY_DEFAULT}/--no-default-{APPLIED_BY_DEFAULT}",
    "applies_default",
    default=True,
    help=f"Whether {APPLIED_BY_DEFAULT} gets the nodes that the delegate or the chain does not take.",
)
@op_profile_option
@live_options
@sdk_option
@target_arguments(runtime=[runtime_option(f"The release: {_spans(RELEASES)}.")])
@partial(output_options, further=(CARD,))
@output_option()
@click.option("-v", "--verbose", is_flag=True, help="Show every node and partition.")
@click.option("--watch", is_flag=True, help="Run again when a model file changes.")
@gathered("accelerators", AcceleratorArguments)
@gathered("live", LiveArguments)
@gathered("outputs", Outputs)
def command(watch: bool, **given: Any) -> int:
    """Show what a delegate does to each MODEL.

    Without --delegate, the output is a table with one row for each delegate. With --delegate, the output shows the runtime's log
    lines, the delegated share, the reasons for nodes on the CPU, and the partitions. For a LiteRT-LM bundle, the output shows
    on which backends the engine generates tokens.
    """
    if not watch:
        return _analyze(**given)

    return run_watching(given["models"], partial(_analyze, **given))


def _analyze(**given: Any) -> int:
    request = Request(**given)
    request.profiles.check(len(request.models))
    if CARD in (request.outputs.form, *[file.form for file in request.outputs.files]):
        _refuse_for_card(request)
    if request.profiles.paths and (request.accelerators.are_given or request.live.is_given):
        raise click.UsageError("--op-profile cannot be combined with --accelerators, --soc or --live")
    if request.accelerators.are_given:
        from .accelerators import analyze_accelerators

        return analyze_accelerators(request)
    if not request.arguments.delegates and not request.is_chain and {*map(format_at, request.models)} == {LITERTLM}:
        from .bundles import analyze_bundles

        return analyze_bundles(request)
    if request.live.is_given:
        from .live import analyze_live

        return analyze_live(request)
    targets, models = request.targets(), request.models
    if request.outputs.form == "text" and request.outputs.output is None and LITERTLM in map(format_at, models):
        from .bundles import engine_answers

        write_lines(engine_answers(models, targets))
    view = View(width(), request.verbose, names_commands=True, names_devices=request.arguments.names_devices)
    return write_analyses(Models(models), _analysis(request, targets), view, request.outputs, request.profiles)


def _analysis(request: Request, targets: Sequence[Target]) -> AnalysisJob:
    delegates, is_chain = request.arguments.delegates, request.is_chain
    if not delegates:
        return overview(targets)
    names_fixes = ALL_DELEGATES not in delegates
    is_alone = is_chain or (len(delegates) == 1 and not request.arguments.several)
    if delegates == (MICRO_NAME,) and len(targets) == 1 and (is_chain or is_given("applies_default")):
        flag = "--chain" if is_chain else f"--default-{APPLIED_BY_DEFAULT}"
        raise click.UsageError(f"{MICRO_NAME} runs whole models, so no nodes remain for another delegate: leave out {flag}")
    without_default = {APPLIED_BY_DEFAULT, ALL_DELEGATES, MICRO_NAME}
    has_default = request.applies_default and is_alone and without_default.isdisjoint(delegates)
    if is_chain or has_default:
        return chain(targets, applies_default=has_default, names_fixes=names_fixes)
    return single(targets, names_fixes=names_fixes)


def _refuse_for_card(request: Request) -> None:
    if request.arguments.delegates == (MICRO_NAME,):
        raise click.UsageError("a card compares delegates: name a delegate beside --micro")
    is_other = request.accelerators.are_given or request.live.is_given or request.is_chain
    if is_other or LITERTLM in map(format_at, request.models):
        raise click.UsageError("a card shows delegates on their own, without --chain, --accelerators, --soc, --live and bundles")


_INTERVAL = 0.4
"""Seconds between two checks of the files."""

Files = dict[str, tuple[int, int] | None]


def run_watching(given: Sequence[str], run: Callable[[], int], sleep: Callable[[float], None] = time.sleep) -> int:
    """Run once, and again if one of the given files appears, changes or disappears. Stop if the user presses Ctrl-C.

    Raises UsageError for standard input.
    """
    if STANDARD_INPUT in given:
        raise click.UsageError("--watch needs files, because standard input can be read only once")
    while True:
        seen = _files(given)
        run()
        write_lines([Line(""), Line("Waiting for a change (press Ctrl-C to stop) ...", "dim")])
        changed = _wait(given, seen, sleep)
        names = printable(changed[0]) if len(changed) == 1 else f"{len(changed):,} files"
        write_lines([Line(""), Line(f"=== {time.strftime('%H:%M:%S')} {names} ===", "bold"), Line("")])


def _wait(given: Sequence[str], seen: Files, sleep: Callable[[float], None]) -> list[str]:
    """Wait until files have changed, and return the changed files.

    The function also waits until the files are stable, because a converter may still be writing a file.
    """
    last = seen
    while True:
        sleep(_INTERVAL)
        now = _files(given)
        if now != seen and now == last:
            return [path for path in {**seen, **now} if seen.get(path) != now.get(path)]
        last = now


def _files(given: Sequence[str]) -> Files:
    return {path: _state(path) for path in model_paths(given)}


def _state(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
