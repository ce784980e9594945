"""The converters that the user has installed, with their versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .sources import Source

NAMES = ("tensorflow", "onnx2tf", "litert-torch", "ai-edge-quantizer")


@dataclass(frozen=True)
class Converter:
    """A converter in a Python interpreter; one that is missing has no version, and says what to install."""

    name: str
    version: str = ""
    python: str = ""
    """Path of the interpreter."""
    companions: tuple[tuple[str, str], ...] = ()
    """Packages beside it that its results depend on, with their versions."""
    install: str = ""
    """What to install where it is missing."""

    @property
    def is_missing(self) -> bool:
        """Whether no interpreter has it."""
        return not self.version


@dataclass(frozen=True)
class Route:
    """A way from a source to a ``.tflite`` file: a converter, and perhaps a quantiser that goes on from its float model."""

    converter: Converter
    quantizer: Converter | None = None

    @property
    def name(self) -> str:
        """The converters by their names."""
        return self.converter.name if self.quantizer is None else f"{self.converter.name} + {self.quantizer.name}"

    @property
    def version(self) -> str:
        """Their versions."""
        own = self.converter.version
        return own if self.quantizer is None else f"{own} + {self.quantizer.version}"


def find_converters(pythons: Sequence[str] | None = None) -> tuple[Converter, ...]:
    """Return every converter of ``NAMES`` in every interpreter that has it, without importing any; missing ones at the end.

    ``pythons`` are paths of interpreters, by default this one. Raises OptionError for one that cannot be run.
    """
    raise NotImplementedError


def routes(source: Source, converters: Sequence[Converter]) -> tuple[Route, ...]:
    """Return the routes that take a kind of source, missing converters included: converting with one of these fails in words.

    A function may return any kind of model: it has the routes of all converters that are installed, and those that do not
    take what it returns fail in words.
    """
    raise NotImplementedError
