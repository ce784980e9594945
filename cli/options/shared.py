"""The options of accelerators, live runs and op profiles, and the completion of names in the shell."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from delegate_sim.delegates.registry import ACCELERATORS, DELEGATE_NAMES, find_delegate
from delegate_sim.model.model import Model
from delegate_sim.releases.catalogue import KNOWN_RELEASES, LITERT_LM_RELEASES, RELEASES
from delegate_sim.runtime.target import Target

from ..console.output_file import Command, OutputPath

if TYPE_CHECKING:
    from delegate_sim.diagnosis.diagnosis import Diagnosis
    from delegate_sim.graph.effort import Effort
    from delegate_sim.timing.fixes import FixTimes
    from delegate_sim.timing.matching import OpProfiles
    from delegate_sim.timing.measured import Timing


def complete_releases(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of the runtime's releases that start with the incomplete word."""
    return _starting(dict.fromkeys((*RELEASES, *KNOWN_RELEASES, *LITERT_LM_RELEASES)), incomplete)


def complete_socs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the SoCs that start with the incomplete word."""
    from delegate_sim.delegates.devices import simulated_socs

    by_name = simulated_socs()
    return _starting(by_name, incomplete) or _starting(dict.fromkeys(by_name.values()), incomplete)


def complete_devices(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of devices that start with the incomplete word."""
    from delegate_sim.delegates.devices import device_names

    return _starting(device_names(), incomplete)


def complete_codes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes that start with the incomplete word, from all codes that a report can contain."""
    from ..codes import explanations

    return _starting(sorted(explanations(tuple(map(find_delegate, DELEGATE_NAMES)))), incomplete)


def _starting(names: Iterable[str], beginning: str) -> list[str]:
    return [name for name in names if name.casefold().startswith(beginning.casefold())]


class LiveArguments(NamedTuple):
    """The values of ``--live``, ``--live-report`` and ``--sdk``."""

    live: bool
    live_report: str | None
    sdks: Sequence[str] = ()

    @property
    def is_given(self) -> bool:
        """Whether at least one of the options is given."""
        return self.live or self.live_report is not None or bool(self.sdks)


sdk_option = click.option(
    "--sdk",
    "sdks",
    metavar="FOLDER",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder with a vendor's libraries.",
)
_LIVE_REPORT = click.option(
    "--live-report",
    metavar="FILE",
    type=OutputPath(),
    help="With --live: write the differences, without weights and names.",
)
_LIVE = click.option("--live", is_flag=True, help="Compare with the real delegate. Exit with 1 if they differ.")


def live_options(command: Command) -> Command:
    """Add ``--live`` and ``--live-report`` to a command."""
    return _LIVE(_LIVE_REPORT(command))


SOC_HELP = "The NPU's SoC, such as google:Tensor_G5 or pixel9."


class AcceleratorArguments(NamedTuple):
    """The values of ``--accelerators`` and ``--soc``."""

    accelerators: str | None
    socs: Sequence[str]

    @property
    def are_given(self) -> bool:
        """Whether at least one of the options is given."""
        return self.accelerators is not None or bool(self.socs)


_SOC = click.option(
    "--soc",
    "socs",
    metavar="SOC",
    multiple=True,
    shell_complete=complete_socs,
    help=SOC_HELP + " Repeatable; all is one of each.",
)
_ACCELERATORS = click.option(
    "--accelerators",
    metavar="NAMES",
    show_default=f"{','.join(ACCELERATORS)} with --soc",
    help="LiteRT 2's accelerators.",
)


def accelerator_options(command: Command) -> Command:
    """Add ``--accelerators`` and ``--soc`` to a command."""
    return _ACCELERATORS(_SOC(command))


@dataclass(frozen=True)
class OpProfileArguments:
    """The values of ``--op-profile``."""

    paths: tuple[str, ...] = ()

    def check(self, model_count: int) -> None:
        """Raise UsageError if there are profiles and several models, because a profile is about one model."""
        if self.paths and model_count > 1:
            raise click.UsageError("--op-profile needs a single MODEL, because a profile is about one model")

    @functools.cached_property
    def _profiles(self) -> OpProfiles:
        from delegate_sim.timing.matching import OpProfiles

        return OpProfiles(self.paths)

    def timings(self, model: Model, targets: Sequence[Target]) -> tuple[Timing, ...]:
        """Return the timings of all profiles, or no timings if the option is not given. Raises UsageError for other runtimes."""
        if self.paths and any(target.delegate.runs_whole_models for target in targets):
            raise click.UsageError("--op-profile needs a delegate: it has times of LiteRT's interpreter")
        return self._profiles.timings(model, targets) if self.paths else ()


def op_profile_option(command: Command) -> Command:
    """Add ``--op-profile`` to a command. The command receives ``OpProfileArguments`` as ``profiles``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        return command(profiles=OpProfileArguments(tuple(given.pop("op_profiles"))), **given)

    return op_profiles_option("An op profile of a device; repeatable.")(call)


def op_profiles_option(description: str) -> Callable[[Command], Command]:
    """Return ``--op-profile`` for the paths of profiles."""
    path = click.Path(readable=False)
    return click.option("--op-profile", "op_profiles", metavar="FILE", multiple=True, type=path, help=description)


def timed_diagnosis(
    model: Model, target: Target, effort: Effort, profiles: OpProfileArguments
) -> tuple[Diagnosis, FixTimes | None]:
    """Return a diagnosis, and the measured times and bounds of its causes if there are profiles."""
    if not profiles.paths:
        from delegate_sim.diagnosis.diagnose import diagnose

        return diagnose(model, target, effort), None
    from delegate_sim.timing import fixes

    return fixes.timed_diagnosis(model, target, profiles.timings(model, [target]), effort)
