"""``delegate-sim reconcile``."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from delegate_sim.delegates.driver_profile import DriverProfile, read_profile
from delegate_sim.delegates.options import DEFAULT_SETS
from delegate_sim.delegates.registry import ACCELERATORS, DELEGATE_NAMES, EDGE_TPU
from delegate_sim.device.compare.accelerator_chain import reconcile_stack
from delegate_sim.device.compare.device_profile import can_teach_devices, devices_entry, learn_devices
from delegate_sim.device.compare.driver_profile import Learning, LearningError, learn, learning_entry, profile_text
from delegate_sim.device.compare.reconcile import NOT_COMPARED, UNEXPLAINED, Reconciliation, reconcile
from delegate_sim.device.compare.row_matching import join_compiler_table
from delegate_sim.device.parse.applied_target import on_device, setting_of
from delegate_sim.device.parse.compilations import NOT_COMPILED
from delegate_sim.device.parse.error_meanings import explained_errors
from delegate_sim.device.parse.log import join_logs, read_runs_file
from delegate_sim.device.parse.log_contents import DeviceLog, ReconcileError, UnknownDelegateError, has_times
from delegate_sim.device.parse.log_runs import chosen_run, run_note, separate_runs
from delegate_sim.device.parse.log_summary import ExplainedLog, summary_of
from delegate_sim.errors import OptionError
from delegate_sim.foundation.files import alone_with, naming_file
from delegate_sim.model.model import Model
from delegate_sim.timing.matching import match_log

from ..console.output_file import OutputPath, Outputs, gathered
from ..console.terminal import Line, result_options, width, write_file, write_lines, write_result
from ..exits import DONE, FINDINGS
from ..models import naming_its_model, one_path, read_model
from ..options.delegate_flags import DelegateCommand, DelegateName, chosen_delegates, given_options
from ..options.shared import SOC_HELP, OpProfileArguments, complete_devices, complete_socs, op_profile_option
from ..options.targets import TargetArguments, devices_of_environment, pairs_option, runtime_option
from ..text.device.compiler import compiler_join_lines
from ..text.device.log import summary_lines
from ..text.device.reconcile import (
    devices_lines,
    learning_lines,
    nothing_learned_lines,
    reconciliation_lines,
)
from ..text.device.stack import stack_reconciliation_lines
from ..text.timing import timing_lines

if TYPE_CHECKING:
    from delegate_sim.timing.measured import Timing

_EPILOG = """\b
Examples:
  delegate-sim reconcile model.tflite --log benchmark.txt
  delegate-sim reconcile model.tflite --log benchmark.txt --log logcat.txt --feature-level 30
  delegate-sim reconcile model.tflite --log benchmark.txt --learn driver.toml
  delegate-sim analyze other.tflite --delegate nnapi --driver driver.toml
  delegate-sim reconcile model.tflite --log logcat.txt --soc mediatek:mt6991

\b
Exit codes:
  0  the simulation agrees with the device, or every difference is explained
  1  a difference is not explained, or nothing in the log can be compared
  2  the model, a log or the profile cannot be read, or a log contradicts it

Several logs must be from one run, such as the output of benchmark_model and of logcat. If a log has several runs, the last run is
used, or the run that --run selects.
"""


class _Shown(NamedTuple):
    outputs: Outputs
    verbose: bool


def _naming_files(command: Callable[..., int]) -> Callable[..., int]:
    """Decorate the command so that each error about a log names the log."""

    @functools.wraps(command)
    def call(path: str, logs: Sequence[str], **given: Any) -> int:
        try:
            return command(path=path, logs=logs, **given)
        except UnknownDelegateError as error:
            raise UnknownDelegateError(f"{', '.join(logs)}: {error}") from error
        except ReconcileError as error:
            raise ReconcileError(f"{path}: {error}") from error

    return call


@click.command("reconcile", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@click.option(
    "--log",
    "logs",
    metavar="FILE",
    multiple=True,
    required=True,
    type=click.Path(readable=False),
    help="A log of the device; may be given several times, for several logs of one run.",
)
@click.option(
    "--run",
    "number",
    metavar="N",
    type=click.IntRange(min=1),
    show_default="the last",
    help="The number of the run in a log with several runs, counted from 1.",
)
@click.option(
    "--learn",
    "learned",
    metavar="FILE",
    type=OutputPath(is_updated=True),
    help="The driver profile to write or to extend. From a log of debug.nn.vlog, the command writes a profile for --devices.",
)
@click.option(
    "--delegate", "delegate", default=None, type=DelegateName(DELEGATE_NAMES), show_default="from the log", help="The delegate."
)
@click.option(
    "--device",
    "device",
    metavar="NAME",
    default=None,
    shell_complete=complete_devices,
    help="The phone, SoC or board that made the log, such as imx8mp.",
)
@click.option(
    "--accelerators",
    metavar="LIST",
    default=None,
    show_default=f"{','.join(ACCELERATORS)} with --soc",
    help="The accelerators of LiteRT 2 that the application requested, instead of one delegate.",
)
@click.option("--soc", metavar="SOC", default=None, shell_complete=complete_socs, help=SOC_HELP)
@pairs_option("An option of the delegate; overrides the log; may be given several times.")
@runtime_option("The release.", "from the log")
@click.option(
    "--defaults",
    type=click.Choice(DEFAULT_SETS),
    default=None,
    show_default="benchmark for a log of benchmark_model, otherwise api",
    help="The defaults of options that neither the log nor the command line sets.",
)
@op_profile_option
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every node; leave nothing out.")
@gathered("shown", _Shown)
@naming_its_model
@_naming_files
def command(
    path: str,
    logs: Sequence[str],
    number: int | None,
    learned: str | None,
    delegate: str | None,
    device: str | None,
    accelerators: str | None,
    soc: str | None,
    pairs: Sequence[str],
    release: str | None,
    defaults: str | None,
    profiles: OpProfileArguments,
    shown: _Shown,
    **flags: str | None,
) -> int:
    """Compare a device's log of a MODEL with the simulation, and explain the differences.

    The delegate, its options and the release are read from the log if the log shows them. Command-line options override the log.
    A node that the delegate accepts can still run on the CPU, because the driver rejected the node, or because of a limit
    on partitions.
    """
    if accelerators is not None or soc is not None:
        if delegate is not None or device is not None or learned is not None or defaults is not None:
            chosen_by = "--soc" if accelerators is None else "--accelerators"
            raise click.UsageError(f"{chosen_by} cannot be combined with --delegate, --device, --learn or --defaults")
        if profiles.paths:
            raise click.UsageError("--op-profile is for one delegate: leave out --accelerators and --soc")
        return _reconcile_accelerators(path, logs, number, accelerators, soc, pairs, flags, release, shown)
    if device is not None and delegate is not None:
        raise click.UsageError("give --delegate or --device: a device has its own delegates")
    model = read_model(one_path(path))
    log, note = _run(logs, number, sum([bool(subgraph.nodes) for subgraph in model.subgraphs]))
    if log.edge_tpu != NOT_COMPILED and not log.replacements and delegate in (None, EDGE_TPU):
        return _join_compiler_table(model, log, note, shown)
    own = on_device(log, device) if device is not None else None
    if own is None and delegate is None and (named := devices_of_environment()):
        with suppress(OptionError):  # the log may be of another device
            own = on_device(log, named[0])
    delegate = delegate if own is None else own.delegate
    try:
        first = setting_of(log, delegate, None, release, defaults)
    except UnknownDelegateError:
        write_lines(summary_lines(ExplainedLog(", ".join(logs), (summary_of(log),)), width(), shown.verbose))
        raise
    (given,) = given_options(chosen_delegates([first.delegate.name]), pairs, flags)
    if own is not None:
        given = {**dict(own.options), **given}
    setting = setting_of(log, delegate, given, release, defaults)
    setting = replace(setting, notes=(*note, *setting.notes))
    measured = _MeasuredTimes(", ".join(logs), profiles)
    if learned is None:
        reconciliation = reconcile(model, log, setting)
        _write(reconciliation, None, shown, measured)
    elif not os.path.exists(learned) and can_teach_devices(reconciliation := reconcile(model, log, setting)):
        _learn_devices(reconciliation, learned, shown)
    elif (reconciliation := reconcile(model, log, setting, _existing(learned))).status in (UNEXPLAINED, NOT_COMPARED):
        _write(reconciliation, None, shown, measured, learned)
    else:
        try:
            learning = _refine(learned, reconciliation, logs[0])
        except LearningError:
            _write(reconciliation, None, shown, measured)
            raise
        _write(reconciliation, learning, shown, measured, learned)
    return FINDINGS if reconciliation.status in (UNEXPLAINED, NOT_COMPARED) else DONE


def _join_compiler_table(model: Model, log: DeviceLog, notes: tuple[str, ...], shown: _Shown) -> int:
    errors = [
        f"an error in the log: {error.line}{f' ({error.meaning})' if error.meaning else ''}"
        for error in explained_errors(log)
        if error.line != log.edge_tpu.failure
    ]
    join = join_compiler_table(model, log.edge_tpu, (*notes, *errors))
    write_result(shown.outputs, join.to_dict, lambda: compiler_join_lines(join, width(), shown.verbose))
    return DONE if join.is_joined else FINDINGS


def _learn_devices(reconciliation: Reconciliation, path: str, shown: _Shown) -> None:
    """Write a profile of the devices to a new file."""
    learning = learn_devices(reconciliation)
    write_file(path, learning.text)
    entry = {"path": path, "device_traits": devices_entry(learning), "notes": list(learning.notes)}
    write_result(
        shown.outputs,
        replace(reconciliation, learned=entry).to_dict,
        lambda: [*reconciliation_lines(reconciliation, width(), shown.verbose), *devices_lines(learning, path, width())],
    )


def _reconcile_accelerators(
    path: str,
    logs: Sequence[str],
    number: int | None,
    accelerators: str | None,
    soc: str | None,
    pairs: Sequence[str],
    flags: Mapping[str, str | None],
    release: str | None,
    shown: _Shown,
) -> int:
    from .analyze.accelerators import asked_stacks, stack_options

    (stack,) = asked_stacks(accelerators, [soc] if soc is not None else [])
    options = stack_options([stack], TargetArguments(pairs=tuple(pairs), flags=flags))
    model = read_model(one_path(path))
    log, note = _run(logs, number, sum([bool(subgraph.nodes) for subgraph in model.subgraphs]))
    reconciliation = reconcile_stack(model, log, stack, release, options)
    reconciliation = replace(reconciliation, notes=(*note, *reconciliation.notes))
    write_result(
        shown.outputs,
        reconciliation.to_dict,
        lambda: stack_reconciliation_lines(reconciliation, width(), shown.verbose),
    )
    return FINDINGS if reconciliation.status in (UNEXPLAINED, NOT_COMPARED) else DONE


def _run(paths: Sequence[str], number: int | None, subgraphs: int) -> tuple[DeviceLog, tuple[str, ...]]:
    logs, notes = [], []
    for path in paths:
        runs = separate_runs(read_runs_file(path), subgraphs)
        logs.append((path, chosen_run(runs, number)))
        notes.append(run_note(len(runs), number))
    return join_logs(logs), tuple(dict.fromkeys(filter(None, notes)))


def _existing(path: str) -> DriverProfile | None:
    if not os.path.exists(path):
        return None
    try:
        return read_profile(path)
    except ValueError as error:
        raise LearningError(str(error)) from error


def _refine(path: str, reconciliation: Reconciliation, log: str) -> Learning:
    """Add a log's observations to the driver profile, and write the profile.

    The file is locked, so no entry of another process is lost.
    """
    with naming_file(path, click.ClickException), alone_with(path):
        learning = learn(reconciliation, log, _existing(path))
        write_file(path, profile_text(learning.profile), is_updated=True)
    return learning


class _MeasuredTimes(NamedTuple):
    path: str
    profiles: OpProfileArguments

    def of(self, reconciliation: Reconciliation) -> tuple[Timing, ...]:
        """Return the measured times in the log (if any) and in the given profiles."""
        model, log, target = reconciliation.model, reconciliation.log, reconciliation.run.target
        if not has_times(log):
            return self.profiles.timings(model, [target])
        own = match_log(self.path, model, log, target)
        return (*([] if own is None else [own]), *self.profiles.timings(model, [target]))


def _write(
    reconciliation: Reconciliation, learning: Learning | None, shown: _Shown, measured: _MeasuredTimes, learned: str = ""
) -> None:
    timings = measured.of(reconciliation)
    learned_lines = (
        [] if not learned else learning_lines(learning, learned, width()) if learning else nothing_learned_lines(learned)
    )
    entry = None if learning is None else learning_entry(learning, learned)

    def lines() -> Iterator[Line]:
        yield from reconciliation_lines(reconciliation, width(), shown.verbose)
        yield from learned_lines
        if timings:
            yield from timing_lines(timings, [reconciliation.run], width(), shown.verbose)

    write_result(shown.outputs, replace(reconciliation, learned=entry, times=timings).to_dict, lines)
