"""The converters' own Python that makes a conversion: what runs is this text, and so is what is shown."""

from __future__ import annotations

from dataclasses import dataclass

from .calibration import DRAWN, Calibration
from .converters import Converter, Route
from .settings import Settings
from .sources import Source


@dataclass(frozen=True)
class Script:
    """One step: a text for a converter's interpreter, which writes ``model.tflite`` into the current folder."""

    converter: Converter
    text: str


def scripts(source: Source, route: Route, settings: Settings, calibration: Calibration = DRAWN) -> tuple[Script, ...]:
    """Return the steps of a conversion; a second one reads what the first one wrote, ``float.tflite``.

    Raises OptionError for settings that the route does not know.
    """
    raise NotImplementedError


def code(source: Source, route: Route, settings: Settings, calibration: Calibration = DRAWN) -> str:
    """Return all steps as one text that can be pasted, each with a line in front of it that says what runs it."""
    raise NotImplementedError
