"""The option ``--op-profile``, which several commands share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from delegate_sim.model.model import Model
from delegate_sim.runtime.target import Target

from ..gathering import Command

if TYPE_CHECKING:
    from delegate_sim.diagnosis.diagnosis import Diagnosis
    from delegate_sim.graph.effort import Effort
    from delegate_sim.timing.fixes import FixTimes
    from delegate_sim.timing.matching import OpProfiles
    from delegate_sim.timing.measured import Timing


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

    decorated: Command = click.option(
        "--op-profile",
        "op_profiles",
        metavar="FILE",
        multiple=True,
        type=click.Path(readable=False),
        help="An op profile of a device; repeatable.",
    )(call)
    return decorated


def timed_diagnosis(
    model: Model, target: Target, effort: Effort, profiles: OpProfileArguments
) -> tuple[Diagnosis, FixTimes | None]:
    """Return a diagnosis, and the measured times and bounds of its causes if there are profiles."""
    if not profiles.paths:
        from delegate_sim.diagnosis.diagnose import diagnose

        return diagnose(model, target, effort), None
    from delegate_sim.timing import fixes

    return fixes.timed_diagnosis(model, target, profiles.timings(model, [target]), effort)
