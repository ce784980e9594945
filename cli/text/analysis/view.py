"""Display settings that the texts of ``analyze`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegate_sim.graph.analysis_cache import AnalysisCache
    from delegate_sim.runtime.target import Target

HEADING = "bold"

MANY = 4
"""From this number of models on, text that is not verbose is a table."""


@dataclass(frozen=True, slots=True)
class View:
    """The width and the amount of detail of a text.

    ``commands`` has the arguments of the ``diagnose`` command, keyed by delegate.
    """

    width: int
    verbose: bool
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    api_targets: Mapping[str, Target] = field(default_factory=dict)
    """Targets with the defaults of the delegates' APIs, keyed by delegate. A target is left out if the defaults of the API
    change none of its options."""
    cache: AnalysisCache | None = None
    """The cache of the model's simulations."""
