"""Converting a source model, in a process with limits, whose failure is an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .cache import ConversionCache
from .calibration import DRAWN, Calibration
from .converters import Route
from .settings import Settings
from .sources import Source


class FailureKind(Enum):
    """Why there is no model."""

    MISSING = "missing"
    """The converter is not installed."""
    CRASHED = "crashed"
    """A signal ended it."""
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    TOO_LARGE = "output too large"
    ERROR = "converter's error"


@dataclass(frozen=True)
class Failure:
    """Why there is no model, in one line that is safe to print."""

    kind: FailureKind
    line: str


@dataclass(frozen=True)
class Limits:
    """What each step of a conversion may use."""

    seconds: float = 900.0
    memory: int = 12 << 30
    """Bytes that its processes hold together; watched on Linux only."""
    output: int = 4 << 30
    """Bytes of the files that it writes."""


@dataclass(frozen=True)
class Conversion:
    """What came of a conversion: a model's file, or a failure."""

    source: Source
    route: Route
    settings: Settings
    calibration: Calibration
    code: str
    path: str = ""
    """The ``.tflite`` file, which stays as long as the cache does; empty where there is none."""
    size: int = 0
    digest: str = ""
    """SHA-256 of the file."""
    failure: Failure | None = None
    seconds: float = 0.0
    """How long it took when it ran."""
    memory: int = 0
    """The most bytes held, as far as watched."""
    printed: str = ""
    """The end of what the converter printed, safe to print line by line."""
    is_kept: bool = False
    """Whether it was kept from an earlier run, so that nothing ran."""


def convert(
    source: Source,
    route: Route,
    settings: Settings,
    cache: ConversionCache,
    calibration: Calibration = DRAWN,
    limits: Limits | None = None,
) -> Conversion:
    """Convert a model, or return what is kept from an earlier time. Raises OptionError for settings the route does not know.

    KeyboardInterrupt passes through once every process of the conversion has ended.
    """
    raise NotImplementedError
