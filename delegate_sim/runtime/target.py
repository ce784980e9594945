"""What a model is simulated on."""

from __future__ import annotations

from ..delegates.base import Delegate, OptionValues
from ..named_tuples import NamedTuple
from ..releases.catalogue import Release


class Target(NamedTuple):
    """One delegate with its options, the release of the runtime, and the set of defaults, which decides what is logged.

    ``has_own_resolver`` says that the application registers every operator that the release itself does not load.
    """

    delegate: Delegate
    options: OptionValues
    release: Release
    defaults: str
    has_own_resolver: bool = False
