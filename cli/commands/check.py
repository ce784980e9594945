"""``delegate-sim check``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial

import click

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, DelegateOnDevice
from delegate_sim.foundation.outputs import OutputFile, declare_outputs
from delegate_sim.gate.check import Checked, check_models
from delegate_sim.gate.configuration import Configuration, find_configuration, read_configuration
from delegate_sim.gate.results import FAILED, INTERNAL_ERROR, UNREADABLE, Results
from delegate_sim.gate.source_models import CONSENT_OPTION, CONSENT_VARIABLE
from delegate_sim.runtime.device_targets import delegates_of_devices
from delegate_sim.runtime.target import Target

from ..answers import GITHUB, output_options, summarize, write_files
from ..console.output_file import FileCommand, ReportFile, is_forced, output_option
from ..console.terminal import plain, print_error, show_progress, width, write, write_file, write_lines
from ..exits import DONE, FINDINGS, USAGE, fault_message
from ..exits import INTERNAL_ERROR as FAULT
from ..formats import render
from ..models import STANDARD_INPUT, model_paths
from ..options.delegate_flags import DelegateName
from ..options.shared import live_options, op_profiles_option
from ..options.targets import devices_option
from ..text.check import check_lines

_EPILOG = """\b
Examples:
  delegate-sim init
  delegate-sim check --update
  delegate-sim check
  delegate-sim check models/detector.tflite --target pixel
  delegate-sim check --target cpu --live
  delegate-sim check --format github --report sarif=delegate-sim.sarif

\b
Exit codes:
  0   every result is within the budgets, and no worse than the baseline
  1   a result is worse or over budget or has no baseline entry, an entry has
      no model, or, with --live, a real delegate differs from the simulation
  2   the configuration, the baseline or a model cannot be read
  70  an internal error of delegate-sim, reported as a finding of the model

--update writes the entries of the checked models and targets, and keeps all other entries. The check then fails only if a model
is over budget or an entry has no model. --prune removes entries without a model. Processes that update a baseline at the same
time wait for each other.
"""


@click.command("check", cls=FileCommand, epilog=_EPILOG)
@click.argument("models", metavar="[MODEL]...", nargs=-1, type=click.Path(readable=False))
@click.option("--config", metavar="FILE", type=click.Path(), help="The configuration file, by default the nearest one above.")
@click.option(
    "--target", "targets", metavar="NAME", multiple=True, help="A target of the configuration; may be given several times."
)
@click.option(
    "--delegate",
    "delegates",
    type=DelegateName(DELEGATE_NAMES),
    multiple=True,
    help="All targets of the configuration with this delegate; may be given several times.",
)
@devices_option("All targets of the configuration that exist on this phone, SoC or board; may be given several times.")
@click.option("--update", is_flag=True, help="Write the baseline entries of the checked models and targets.")
@click.option("--prune", is_flag=True, help="Remove baseline entries without a model or target.")
@op_profiles_option(
    "With --update: store the times of one model and target, measured on a device, in a file next to the baseline."
)
@live_options
@partial(output_options, replaces=True)
@output_option("Write to a file, not to standard output. Only --format text needs --force.", is_declared=False)
@click.option(
    CONSENT_OPTION,
    is_flag=True,
    envvar=CONSENT_VARIABLE,
    help=f"Run code that the configuration names. Only if you trust the repository. Or {CONSENT_VARIABLE}=1.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("-v", "--verbose", is_flag=True, help="Show every model and finding.")
def command(
    models: Sequence[str],
    config: str | None,
    targets: Sequence[str],
    delegates: Sequence[str],
    named_devices: Sequence[str],
    update: bool,
    prune: bool,
    op_profiles: Sequence[str],
    live: bool,
    live_report: str | None,
    form: str,
    files: Sequence[ReportFile],
    output: str | None,
    run_configured_code: bool,
    exit_zero: bool,
    verbose: bool,
) -> int:
    """Compare every model on every target with the committed baseline.

    The check fails if partitions, kernels, CPU nodes, delegated shares, wrong results or boundary bytes got worse than the
    configuration allows. The output lists nodes that fell back to the CPU, and the changes of the model. Without MODEL, all
    models of the configuration are checked.
    """
    if STANDARD_INPUT in models:
        raise click.UsageError("the baseline identifies models by their files: give a file instead of - (standard input)")
    if op_profiles and not update:
        raise click.UsageError("--op-profile needs --update")
    if live_report is not None and not live:
        raise click.UsageError("--live-report needs --live")
    if output is not None:
        declare_outputs([OutputFile(output, is_forced(), replaces=form != "text")])
    configuration = read_configuration(config or os.path.relpath(find_configuration(os.getcwd())))
    checked = check_models(
        configuration,
        model_paths(models),
        [*targets, *_target_names(configuration, delegates, named_devices)],
        update=update,
        prune=prune,
        live=live,
        op_profiles=op_profiles,
        run_configured_code=run_configured_code,
        begins=_begins,
        fault=fault_message,
    )
    if live_report is not None:
        write_file(live_report, json.dumps(checked.live_reports, indent=2) + "\n")
    unreadable = [case for case in checked.results.cases if case.status == UNREADABLE]
    for message in dict.fromkeys([finding.message for case in unreadable for finding in case.findings]):
        print_error(message)
    write_files(
        [*files, *([] if output is None else [ReportFile(form, output)])], lambda chosen: _rendered(chosen, checked, verbose)
    )
    if GITHUB in (form, *[file.form for file in files]):
        summarize(checked.results)
    if output is None and form == "text":
        write_lines(check_lines(checked, width(), verbose))
    elif output is None:
        write(_rendered(form, checked, verbose), form)
    return _exit_code(checked.results, exit_zero)


def _target_names(configuration: Configuration, delegates: Sequence[str], devices: Sequence[str]) -> Iterator[str]:
    asked = [(f"for {delegate}", [DelegateOnDevice(delegate, ())]) for delegate in delegates]
    asked += [(f"on {device}", list(delegates_of_devices([device]))) for device in devices]
    for what, wanted in asked:
        own = [target.name for target in configuration.targets for delegate in wanted if _is_on_device(target.target, delegate)]
        if not own:
            known = ", ".join([target.name for target in configuration.targets])
            raise click.ClickException(f"{configuration.path}: has no target {what}; its targets are {known}")
        yield from own


def _is_on_device(target: Target, wanted: DelegateOnDevice) -> bool:
    if target.delegate.name != wanted.delegate:
        return False
    parsed = parse_options(wanted.delegate, target.delegate.options, dict(wanted.options), target.defaults)
    return all(target.options[name] == parsed[name] for name, _ in wanted.options)


def _rendered(form: str, checked: Checked, verbose: bool) -> str:
    if form == "text":
        return plain(check_lines(checked, width(), verbose))
    if form == "json":
        return json.dumps(checked.results.to_dict(), indent=2) + "\n"
    return render(form, checked.results)


def _begins(number: int, total: int, model: str) -> None:
    if total > 1:
        show_progress(f"{number:,} of {total:,}: {model}", (number - 1) / total)
    else:
        show_progress(model)


def _exit_code(results: Results, exit_zero: bool) -> int:
    if any(finding.code == INTERNAL_ERROR for case in results.cases for finding in case.findings):
        return FAULT
    if results.count(UNREADABLE):
        return USAGE
    return FINDINGS if results.count(FAILED) and not exit_zero else DONE
