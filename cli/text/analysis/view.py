"""Display settings that the texts of ``analyze`` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegate_sim.diagnosis.advice.node_advice import Advice
    from delegate_sim.graph.analysis_cache import AnalysisCache
    from delegate_sim.model.model import Model
    from delegate_sim.runtime.interpreter import Run
    from delegate_sim.runtime.target import Target

HEADING = "bold"

MANY = 4
"""Smallest number of models for which text is written as a table, unless the text is verbose."""


@dataclass(frozen=True, slots=True)
class View:
    """The width and the amount of detail of a text.

    ``commands`` has the arguments of the ``diagnose`` command, by delegate. ``advise`` returns advice that is more precise than
    the hints of the rules.
    """

    width: int
    verbose: bool
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    advise: Callable[[Model, Run], Advice] | None = None
    api_targets: Mapping[str, Target] = field(default_factory=dict)
    """For each delegate whose options change with the defaults of its API, the target with these defaults."""
    cache: AnalysisCache | None = None
    """The cache of the model's simulations."""
