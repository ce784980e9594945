"""Test whether an engine runs on this host. The test runs the engine on a model with one node."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import NamedTuple

from ..delegates.options import parse_options
from ..foundation.columns import LIST, YES_OR_NO, Column, Declared, attributes
from ..model.reader import load
from .engine import Engine
from .engines import engines
from .litert_lm import engine as litert_lm

_MODEL = (
    "HAAAAFRGTDMUACAAHAAUABAAGAAMAAAABAAIABQAAAAcAAAAHAAAABwAAAAoAAAADAEAACgBAAADAAAAAAAAAAAAAAABAAAACAAAAAQABAAEAAAAAQAAABQA"
    "AAAAAA4AGAAQAAwACAAEABQADgAAABQAAABAAAAARAAAAEgAAACwAAAAAQAAABAAAAAAAAoADAAAAAgABAAKAAAACAAAAAwAAAABAAAAAQAAAAEAAAAAAAAA"
    "AQAAAAEAAAABAAAAAAAAAAIAAABEAAAABAAAANr///8AAAABCAAAABAAAAACAAAAAQAAAAQAAAACAAAAdDAAAAAAFgAQAAgAAAAAAAwAAAAAAAAAAAAHABYA"
    "AAAAAAABCAAAABAAAAACAAAAAQAAAAQAAAACAAAAaW4AAAQAAABtYWluAAAAAAEAAAAQAAAADAAMAAsAAAAAAAQADAAAABwAAAAAAAAcAAAAAAAAAAA="
)
"""A base64-encoded model with one node, a TANH of a float input."""


class TestedEngine(NamedTuple):
    """A delegate or engine: its name, version, the requirements that this host does not meet, and whether it can be simulated."""

    target: str
    software: str
    lacks: str
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class TestedEngines(Declared):
    """The real delegates on this host, each tested with a one-node model, and LiteRT-LM's engine."""

    document = "doctor"
    columns = (
        Column(
            "engines",
            LIST,
            parts=(
                *(Column("target"), Column("ready", YES_OR_NO, source=lambda trial: not trial.lacks)),
                *(*attributes("software", "lacks"), Column("simulated", YES_OR_NO, source="is_simulated")),
            ),
        ),
    )

    engines: tuple[TestedEngine, ...]


def tested_engines() -> TestedEngines:
    """Test every engine. Engines of the same installation are tested once."""
    lacks: dict[str, str] = {}
    trials = []
    for engine in engines():
        if engine.installation not in lacks:
            lacks[engine.installation] = lacking(engine)
        lack = lacks[engine.installation]
        trials.append(TestedEngine(engine.delegate.name, engine.software, lack, not engine.delegate.is_live_only))
    trials.append(TestedEngine(litert_lm.NAME, litert_lm.software(), litert_lm.try_engine(), True))
    return TestedEngines(tuple(trials))


def lacking(engine: Engine) -> str:
    """Return the missing requirements of an engine on this host, or "" if the engine runs.

    If the engine reports no missing requirement, run the engine on a small model.
    """
    if not engine.is_ready:
        return engine.lacks
    options = parse_options(engine.delegate.name, engine.delegate.options, engine.fixed_options)
    decision = engine.decide(load(base64.b64decode(_MODEL)), options)
    return decision.lacks or decision.end
