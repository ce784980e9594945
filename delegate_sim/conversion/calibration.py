"""Calibration data for quantizers: the user's data, or random data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum

from ..errors import OptionError
from ..foundation.parsing.array_files import array_kinds
from ..foundation.printable import printable
from .cache import file_digest, files_digest
from .sources import find_function

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp")


class CalibrationKind(Enum):
    """The source of calibration samples."""

    DRAWN = "drawn"
    ARRAYS = "arrays"
    IMAGES = "images"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Samples of a model's inputs: random numbers, or the user's data from a ``.npz`` file, a folder of images or a function.

    Random samples use seed 0. Random floats follow the standard normal distribution, and random integers are 0 or 1. In a
    file, the first dimension of each array is the number of samples. For float inputs, pixels of images are scaled to the
    range from 0 to 1. A function yields samples. Each sample is a list of arrays in the order of the inputs, or a dictionary
    of arrays by input name.
    """

    kind: CalibrationKind = CalibrationKind.DRAWN
    path: str = ""
    """Absolute path of the ``.npz`` file, of the folder of images, or of the function's module."""
    function: str = ""
    module: str = ""
    folder: str = ""
    """The folder from which ``module`` can be imported."""
    names: tuple[str, ...] = ()
    """File names of the images to use."""
    digest: str = ""
    """SHA-256 of the user's data, or "" for random data."""
    count: int = 8
    """Largest number of samples to use."""
    inputs: tuple[str, ...] = ()
    """The names of the source model's inputs, in order. Arrays are found by these names. Empty if the names are unknown."""

    @property
    def is_drawn(self) -> bool:
        """True if the data is random."""
        return self.kind is CalibrationKind.DRAWN

    @property
    def words(self) -> str:
        """A description of the data for a table."""
        name = printable(os.path.basename(self.path))
        match self.kind:
            case CalibrationKind.DRAWN:
                return f"{self.count} samples of random numbers (seed 0), not of real data"
            case CalibrationKind.ARRAYS:
                return f"up to {self.count} samples from {name}"
            case CalibrationKind.IMAGES:
                return f"up to {self.count} images from {name}, with pixels scaled to numbers from 0 to 1"
            case CalibrationKind.FUNCTION:
                return f"up to {self.count} samples from {name}:{self.function}"


DRAWN = Calibration()


def find_calibration(text: str | None, count: int = 8) -> Calibration:
    """Find the user's data: a ``.npz`` file, a folder of images, ``module:function`` or ``file.py:function``.

    If ``text`` is None, return random data. Raise OptionError if the data does not exist or cannot be read.
    """
    if count < 1:
        raise OptionError("at least one sample is needed")
    if text is None:
        return Calibration(count=count)
    try:
        return _user_data(text, count)
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OptionError(printable(f"{text}: {words}")) from None


def _user_data(text: str, count: int) -> Calibration:
    path = os.path.abspath(text)
    if os.path.isdir(path):
        names = images_in(path)
        if not names:
            raise OSError(f"the folder has no images ({', '.join(IMAGE_ENDINGS)})")
        used = tuple(names[:count])
        digest = files_digest([(name, os.path.join(path, name)) for name in used])
        return Calibration(CalibrationKind.IMAGES, path, names=used, digest=digest, count=count)
    if os.path.lexists(path):
        array_kinds(path)  # the scripts of conversions read the arrays
        return Calibration(CalibrationKind.ARRAYS, path, digest=file_digest(path), count=count)
    function = find_function(text)
    if function is None:
        raise OSError("does not exist: give a .npz file, a folder of images, module:function or file.py:function")
    digest = file_digest(function.path)
    return Calibration(
        CalibrationKind.FUNCTION, function.path, function.name, function.module, function.folder, digest=digest, count=count
    )


def images_in(folder: str) -> list[str]:
    """Return the names of the images in a folder, sorted. Raise OSError if the folder cannot be read."""
    return sorted([name for name in os.listdir(folder) if name.lower().endswith(IMAGE_ENDINGS)])
