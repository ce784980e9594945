"""Display settings that the texts of ``analyze`` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegate_sim.graph.analysis_cache import AnalysisCache

MANY = 4
"""From this number of models on, the text is a table, unless the view is verbose."""


@dataclass(frozen=True, slots=True)
class View:
    """The width and the amount of detail of a text."""

    width: int
    verbose: bool
    names_commands: bool = False
    """Whether the text names further commands, and the result with the defaults of the delegate's API."""
    names_devices: bool = False
    """Whether the user named devices, or kinds of devices."""
    cache: AnalysisCache | None = None
    """The cache of the model's simulations."""
