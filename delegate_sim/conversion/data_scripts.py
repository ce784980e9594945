"""The part of a conversion script that yields samples of a model's inputs.

This part defines ``samples``, a function without arguments. Earlier in the script, ``inputs`` must be set to the name, shape
and NumPy type of each input.
"""

from __future__ import annotations

from .calibration import Calibration, CalibrationKind

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
