"""Test whether an engine runs on this host. The test runs the engine on a model with one node."""

from __future__ import annotations

import base64

from ..delegates.options import parse_options
from ..model.reader import load
from .engine import Engine
from .engines import engines

_MODEL = (
    "HAAAAFRGTDMUACAAHAAUABAAGAAMAAAABAAIABQAAAAcAAAAHAAAABwAAAAoAAAADAEAACgBAAADAAAAAAAAAAAAAAABAAAACAAAAAQABAAEAAAAAQAAABQA"
    "AAAAAA4AGAAQAAwACAAEABQADgAAABQAAABAAAAARAAAAEgAAACwAAAAAQAAABAAAAAAAAoADAAAAAgABAAKAAAACAAAAAwAAAABAAAAAQAAAAEAAAAAAAAA"
    "AQAAAAEAAAABAAAAAAAAAAIAAABEAAAABAAAANr///8AAAABCAAAABAAAAACAAAAAQAAAAQAAAACAAAAdDAAAAAAFgAQAAgAAAAAAAwAAAAAAAAAAAAHABYA"
    "AAAAAAABCAAAABAAAAACAAAAAQAAAAQAAAACAAAAaW4AAAQAAABtYWluAAAAAAEAAAAQAAAADAAMAAsAAAAAAAQADAAAABwAAAAAAAAcAAAAAAAAAAA="
)
"""A base64-encoded model with one node, a TANH of a float input."""


def tested_engines() -> list[tuple[Engine, str]]:
    """Return every engine with the requirements that this host lacks. Engines of the same installation are tested once."""
    lacks: dict[str, str] = {}
    results = []
    for engine in engines():
        if engine.installation not in lacks:
            lacks[engine.installation] = lacking(engine)
        results.append((engine, lacks[engine.installation]))
    return results


def lacking(engine: Engine) -> str:
    """Return the missing requirements of an engine on this host, or "" if the engine runs.

    If the engine reports no missing requirement, run the engine on a small model.
    """
    if not engine.is_ready:
        return engine.lacks
    options = parse_options(engine.delegate.name, engine.delegate.options, engine.fixed_options)
    decision = engine.decide(load(base64.b64decode(_MODEL)), options)
    return decision.lacks or decision.end
