"""Test whether an engine runs on this host. The test runs the engine on a model with one node."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ..delegates.options import parse_options
from ..foundation.columns import LIST, OBJECT, YES_OR_NO, Column, Declared, attributes
from ..model.reader import load
from . import litert_lm
from .engine import Engine, SecondStage
from .live_runs import engines
from .plugin_engine import PluginEngine

_MODEL = (
    "HAAAAFRGTDMUACAAHAAUABAAGAAMAAAABAAIABQAAAAcAAAAHAAAABwAAAAoAAAADAEAACgBAAADAAAAAAAAAAAAAAABAAAACAAAAAQABAAEAAAAAQAAABQA"
    "AAAAAA4AGAAQAAwACAAEABQADgAAABQAAABAAAAARAAAAEgAAACwAAAAAQAAABAAAAAAAAoADAAAAAgABAAKAAAACAAAAAwAAAABAAAAAQAAAAEAAAAAAAAA"
    "AQAAAAEAAAABAAAAAAAAAAIAAABEAAAABAAAANr///8AAAABCAAAABAAAAACAAAAAQAAAAQAAAACAAAAdDAAAAAAFgAQAAgAAAAAAAwAAAAAAAAAAAAHABYA"
    "AAAAAAABCAAAABAAAAACAAAAAQAAAAQAAAACAAAAaW4AAAQAAABtYWluAAAAAAEAAAAQAAAADAAMAAsAAAAAAAQADAAAABwAAAAAAAAcAAAAAAAAAAA="
)
"""A base64-encoded model with one node, a TANH of a float input."""


class TestedEngine(NamedTuple):
    """A delegate or engine: its name, version, the requirements that this host does not meet, and whether it can be simulated.

    ``built`` tells whether the second stage, such as the vendor's compiler, works; None if it was not reached. ``problems`` are
    its errors. ``libraries`` are the vendor's libraries that the code opens, with their paths, and ``searched`` the folders.
    """

    target: str
    software: str
    lacks: str
    is_simulated: bool
    built: bool | None = None
    problems: tuple[str, ...] = ()
    libraries: Mapping[str, str | None] = MappingProxyType({})
    searched: tuple[str, ...] = ()


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
                *(Column("built", YES_OR_NO), Column("problems", LIST), Column("libraries", OBJECT), Column("searched", LIST)),
            ),
        ),
    )

    engines: tuple[TestedEngine, ...]


def tested_engines(sdks: Sequence[str]) -> TestedEngines:
    """Test every engine. Engines of the same installation are tested once. ``sdks`` are the folders of vendors' SDKs."""
    tested: dict[str, tuple[str, SecondStage | None]] = {}
    trials = []
    for engine in engines(sdks):
        if engine.installation not in tested:
            tested[engine.installation] = _tested(engine, to_end=True)
        lack, stage = tested[engine.installation]
        built = None if stage is None else stage.is_built and not stage.run_failure
        problems = () if stage is None or built else (stage.lacks,) if stage.lacks else stage.errors
        places = (engine.libraries, tuple(engine.searched)) if isinstance(engine, PluginEngine) else ({}, ())
        trials.append(TestedEngine(engine.delegate.name, engine.software, lack, engine.is_simulated, built, problems, *places))
    trials.append(TestedEngine(litert_lm.NAME, litert_lm.software(), litert_lm.try_engine(), True))
    return TestedEngines(tuple(trials))


def lacking(engine: Engine) -> str:
    """Return the missing requirements of an engine on this host, or "" if the engine runs."""
    return _tested(engine)[0]


def _tested(engine: Engine, *, to_end: bool = False) -> tuple[str, SecondStage | None]:
    if not engine.is_ready:
        return engine.lacks, None
    options = parse_options(engine.delegate.name, engine.delegate.options, engine.fixed_options)
    decision = engine.decide(load(base64.b64decode(_MODEL)), options, to_end=to_end)
    return decision.lacks or decision.end, decision.second_stage
