"""The target of a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from ..delegates.base import Delegate, OptionValues
from ..releases.catalogue import Release


@dataclass(frozen=True, slots=True)
class Target:
    """One delegate with its options, the release of the runtime, and the set of defaults, which decides what is logged.

    ``has_own_resolver`` says that the application registers every operator that the release itself does not load.
    """

    delegate: Delegate
    options: OptionValues
    release: Release
    defaults: str
    has_own_resolver: bool = False
