"""Calibration data for quantizers, the user's or random, and the part of a conversion script that yields samples.

This part defines ``samples``, a function without arguments. Earlier in the script, ``inputs`` must be set to the name, shape
and NumPy type of each input.
"""

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
        names = sorted([name for name in os.listdir(path) if name.lower().endswith(IMAGE_ENDINGS)])
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


_DRAWN = """\
random = np.random.default_rng(0)


def drawn(shape, dtype):
    if np.dtype(dtype).kind in "iub":
        return random.integers(0, 2, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def samples():  # random numbers, not real data
    for _ in range({count}):
        yield {{name: drawn(shape, dtype) for name, shape, dtype in inputs}}
"""

_ARRAYS = """\
arrays = np.load({path!r}, allow_pickle=False)


def samples():
    names = arrays.files if len(inputs) == len(arrays.files) == 1 else {names}
    columns = [arrays[name if name in arrays else names[place]] for place, (name, _, _) in enumerate(inputs)]
    for number in range({count}):
        sample = {{}}
        for (name, shape, dtype), column in zip(inputs, columns):
            rows = max(shape[0], 1) if shape and column.ndim == len(shape) else 1
            part = column[number * rows : (number + 1) * rows] if column.ndim else column
            if column.ndim and len(part) < rows:
                return
            sample[name] = {fitted}
        yield sample
"""
_IN_ORDER = "np.reshape(part, shape).astype(dtype)"
_CHANNELS_LAST = """\
np.reshape(np.moveaxis(part, {axis}, -1) if list(part.shape) != shape else part, shape).astype(dtype)"""

_IMAGES = """\
folder = {path!r}
[(name, shape, dtype)] = inputs  # images go with a single input
{preparation}

def samples():
    for image in {names}:
        {reading}
        scaled = pixels if np.dtype(dtype).kind in "iu" else pixels / 255.0
        yield {{name: np.reshape({array}, shape).astype(dtype)}}
"""
_BY_TENSORFLOW = (
    "",
    "content = tf.io.read_file(os.path.join(folder, image))\n"
    "        decoded = tf.io.decode_image(content, channels=shape[-1], expand_animations=False)\n"
    "        pixels = tf.image.resize(decoded, shape[1:3]).numpy()",
    "scaled",
)
_BY_PILLOW = (
    "is_channels_first = shape[1] in (1, 3) and shape[3] not in (1, 3)\n"
    "height, width, channels = (shape[2], shape[3], shape[1]) if is_channels_first else shape[1:]\n",
    'opened = Image.open(os.path.join(folder, image)).convert("L" if channels == 1 else "RGB")\n'
    "        pixels = np.asarray(opened.resize((width, height)), np.float32).reshape(height, width, channels)",
    "np.moveaxis(scaled, -1, 0) if is_channels_first else scaled",
)

_FUNCTION = """\
sys.path.insert(0, {folder!r})
from {module} import {function}


def samples():
    for sample in itertools.islice({function}(), {count}):
        given = sample if isinstance(sample, dict) else {{}}
        values = list(given.values() or sample)
        yield {{name: np.asarray(given.get(name, value), dtype) for (name, _, dtype), value in zip(inputs, values)}}
"""


def data_part(calibration: Calibration, *, has_tensorflow: bool, moves_channels: bool) -> tuple[str, tuple[str, ...]]:
    """Return the part of the script that yields samples, and the imports that the part needs besides ``import numpy as np``.

    If ``has_tensorflow`` is true, the script reads images with TensorFlow, otherwise with Pillow. If ``moves_channels`` is true,
    channels are the second dimension of the user's model and arrays, but the last dimension of the converted model.
    """
    count = calibration.count
    match calibration.kind:
        case CalibrationKind.DRAWN:
            return _DRAWN.format(count=count), ()
        case CalibrationKind.ARRAYS:
            fitted = _CHANNELS_LAST.format(axis="1 if part.ndim == len(shape) else 0") if moves_channels else _IN_ORDER
            names = list(calibration.inputs) or "arrays.files"
            return _ARRAYS.format(path=calibration.path, count=count, fitted=fitted, names=names), ()
        case CalibrationKind.IMAGES:
            preparation, reading, array = _BY_TENSORFLOW if has_tensorflow else _BY_PILLOW
            text = _IMAGES.format(
                path=calibration.path, names=list(calibration.names), preparation=preparation, reading=reading, array=array
            )
            return text, ("import os",) if has_tensorflow else ("import os", "from PIL import Image")
        case CalibrationKind.FUNCTION:
            text = _FUNCTION.format(
                folder=calibration.folder, module=calibration.module, function=calibration.function, count=count
            )
            return text, ("import itertools", "import sys")
