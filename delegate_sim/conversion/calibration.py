"""The data that a quantiser measures ranges with: the user's, or drawn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CalibrationKind(Enum):
    """Where samples come from."""

    DRAWN = "drawn"
    ARRAYS = "arrays"
    IMAGES = "images"
    FUNCTION = "function"


@dataclass(frozen=True)
class Calibration:
    """Samples of a model's inputs: drawn with a seed, or the user's from a ``.npz`` file, a folder of images or a function."""

    kind: CalibrationKind = CalibrationKind.DRAWN
    path: str = ""
    function: str = ""
    digest: str = ""
    """SHA-256 of the user's data, empty for drawn data."""
    count: int = 8
    """The most samples that are used."""
    seed: int = 0
    integers: int = 2
    """Drawn integers are below this."""

    @property
    def is_drawn(self) -> bool:
        """Whether the data is made up."""
        return self.kind is CalibrationKind.DRAWN

    @property
    def words(self) -> str:
        """What the data is, for the reader of a table."""
        raise NotImplementedError


DRAWN = Calibration()


def find_calibration(text: str | None, count: int = 8, seed: int = 0) -> Calibration:
    """Find the user's data: a ``.npz`` file, a folder of images, ``module:function`` or ``file.py:function``; None draws it.

    Raises OptionError where there is none.
    """
    raise NotImplementedError
