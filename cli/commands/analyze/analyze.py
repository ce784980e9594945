"""``delegate-sim analyze``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import click

from delegate_sim.bundles.formats import LITERTLM, format_at
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT
from delegate_sim.releases.catalogue import RELEASES
from delegate_sim.runtime.target import Target

from ...answers import Outputs
from ...console.output_file import output_option
from ...console.terminal import width, write_lines
from ...gathering import gathered
from ...models import Models
from ...options.accelerators import AcceleratorArguments, LiveArguments, accelerator_options, live_options
from ...options.delegate_flags import ALL_DELEGATES, DelegateCommand
from ...options.op_profile import OpProfileArguments, op_profile_option
from ...options.targets import TargetArguments, delegates_option, runtime_option, target_arguments
from ...outputs import CARD, output_options
from ...text.analysis.view import View
from .analysis import AnalysisJob, chain, overview, single, write_analyses

_EPILOG = """\b
Examples:
  delegate-sim analyze model.tflite
  delegate-sim analyze model.tflite --delegate nnapi
  delegate-sim analyze model.tflite --delegate nnapi --android 11 --runtime tf-2.15
  delegate-sim analyze model.tflite --delegate gpu --delegate xnnpack --chain
  delegate-sim analyze model.tflite --format card -o card.svg
  delegate-sim analyze model.tflite --soc pixel10 --soc mediatek:mt6991
  delegate-sim analyze llm.litertlm --option backend=gpu --option vision=gpu

A MODEL is a file, a folder, a pattern such as 'models/**/*.tflite', or - for standard input. For several models, JSON output is
an array. For four or more, text output is a table. If a model cannot be read, the exit code is 2.
"""


def _spans(releases: Iterable[str]) -> str:
    """Return the first and the last release of each family (TensorFlow and LiteRT) as text."""
    families: dict[str, list[str]] = {}
    for release in releases:
        families.setdefault(release.partition("-")[0], []).append(release)
    return " or ".join([f"{family[0]} to {family[-1]}" for family in families.values()])


@click.command("analyze", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@delegates_option("an overview of all")
@click.option(
    "--chain",
    "is_chain",
    is_flag=True,
    help="Apply the delegates in order, each to the remaining nodes.",
)
@accelerator_options
@click.option(
    f"--default-{APPLIED_BY_DEFAULT}/--no-default-{APPLIED_BY_DEFAULT}",
    "applies_default",
    default=True,
    help=f"Whether {APPLIED_BY_DEFAULT} gets the nodes that the delegate or the chain does not take.",
)
@op_profile_option
@live_options
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
    from ...watching import run_watching

    return run_watching(given["models"], partial(_analyze, **given))


def _analyze(
    models: Sequence[str],
    arguments: TargetArguments,
    is_chain: bool,
    applies_default: bool,
    accelerators: AcceleratorArguments,
    live: LiveArguments,
    outputs: Outputs,
    profiles: OpProfileArguments,
    verbose: bool,
) -> int:
    profiles.check(len(models))
    if CARD in (outputs.form, *[file.form for file in outputs.files]):
        _refuse_for_card(models, accelerators, live, is_chain=is_chain)
    if profiles.paths and (accelerators.are_given or live.is_given):
        raise click.UsageError("--op-profile cannot be combined with --accelerators, --soc or --live")
    if accelerators.are_given:
        _refuse_with_accelerators(accelerators, arguments, is_chain, live)
        from .accelerators import analyze_accelerators

        return analyze_accelerators(models, accelerators, arguments, outputs, verbose=verbose)
    if not arguments.delegates and not is_chain and {*map(format_at, models)} == {LITERTLM}:
        from .bundles import analyze_bundles

        return analyze_bundles(models, arguments, outputs, live, verbose=verbose)
    targets = arguments.targets(unnamed=(), is_live=live.live)
    if is_chain and arguments.several:
        raise click.UsageError(f"with --chain, give only one value of --{next(iter(arguments.several))}")
    if is_chain and not arguments.delegates:
        raise click.UsageError("--chain needs delegates: give --delegate for each delegate, in order")
    if live.is_given:
        from .live import analyze_live, refuse_other_options

        refuse_other_options(live, arguments, is_chain=is_chain, has_files=bool(outputs.files))
        return analyze_live(models, targets, live, outputs, View(width(), verbose))
    if outputs.form == "text" and outputs.output is None and LITERTLM in map(format_at, models):
        from .bundles import engine_answers

        write_lines(engine_answers(models, targets))
    view = View(width(), verbose, names_commands=True, names_devices=arguments.names_devices)
    return write_analyses(Models(models), _analysis(arguments, targets, is_chain, applies_default), view, outputs, profiles)


def _analysis(arguments: TargetArguments, targets: Sequence[Target], is_chain: bool, applies_default: bool) -> AnalysisJob:
    """Return the requested kind of analysis: an overview, delegates on their own, or a chain."""
    if not arguments.delegates:
        return overview(targets)
    names_fixes = ALL_DELEGATES not in arguments.delegates
    is_alone = is_chain or (len(arguments.delegates) == 1 and not arguments.several)
    has_default = applies_default and is_alone and {APPLIED_BY_DEFAULT, ALL_DELEGATES}.isdisjoint(arguments.delegates)
    if is_chain or has_default:
        return chain(targets, applies_default=has_default, names_fixes=names_fixes)
    return single(targets, names_fixes=names_fixes)


def _refuse_for_card(models: Sequence[str], accelerators: AcceleratorArguments, live: LiveArguments, *, is_chain: bool) -> None:
    if accelerators.are_given or live.is_given or is_chain or LITERTLM in map(format_at, models):
        raise click.UsageError("a card shows delegates on their own, without --chain, --accelerators, --soc, --live and bundles")


def _refuse_with_accelerators(
    accelerators: AcceleratorArguments, arguments: TargetArguments, is_chain: bool, live: LiveArguments
) -> None:
    if arguments.delegates or is_chain:
        chosen_by = "--soc" if accelerators.accelerators is None else "--accelerators"
        raise click.UsageError(f"{chosen_by} already selects the delegates: leave out --delegate and --chain")
    refused = {
        "--live": live.is_given,
        "--defaults": _is_given("defaults"),
        f"--default-{APPLIED_BY_DEFAULT}": _is_given("applies_default"),
    }
    if any(refused.values()):
        raise click.UsageError(f"--accelerators does not take {', '.join([name for name in refused if refused[name]])}")


def _is_given(parameter: str) -> bool:
    return click.get_current_context().get_parameter_source(parameter) is not click.core.ParameterSource.DEFAULT
