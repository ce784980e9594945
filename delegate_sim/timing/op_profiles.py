"""The op profiles that a user gives for one model."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from ..model.model import Model
from ..runtime.target import Target
from .matching import match_profile
from .measured import Timing
from .op_profile import OpProfile, read_op_profile
from .plan import delegates_in


@dataclass(frozen=True)
class OpProfiles:
    """The files of the profiles. Each file is read once, when it is needed."""

    paths: tuple[str, ...]

    @functools.cached_property
    def profiles(self) -> tuple[OpProfile, ...]:
        """The profiles. Raises LogError if a file cannot be read, or has no times."""
        return tuple(map(read_op_profile, self.paths))

    def timings(self, model: Model, targets: Sequence[Target]) -> tuple[Timing, ...]:
        """Match each profile with the first target whose delegate it shows, or the first. Raises WrongProfileError."""
        timings = []
        for profile in self.profiles:
            fitting = [target for target in targets if target.delegate.name in delegates_in(profile.log, target)]
            timings.append(match_profile(profile, model, (fitting or list(targets))[0]))
        return tuple(timings)
