"""Display settings that the texts of ``analyze`` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegate_sim.diagnosis.advice.node_advice import Advice
    from delegate_sim.model.model import Model
    from delegate_sim.runtime.interpreter import Run

HEADING = "bold"

MANY = 4
"""The number of models from which on text has a table, unless everything is to be shown."""


@dataclass(frozen=True, slots=True)
class View:
    """The amount of detail and the width of a text.

    ``commands`` are the arguments of those that diagnose the model, by delegate; ``advise`` finds out what to change, beyond
    what rules say.
    """

    width: int
    verbose: bool
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    advise: Callable[[Model, Run], Advice] | None = None
