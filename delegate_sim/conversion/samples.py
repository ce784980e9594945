"""Read the user's data in the order of a source model's inputs, and check that the data fits the inputs."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from ..foundation.late_numpy import np
from ..foundation.limits import element_count
from ..foundation.parsing.array_files import array_kinds, read_arrays
from ..foundation.printable import printable
from .calibration import Calibration, CalibrationKind, data_part
from .convert import error_line, run_script
from .converters import Converter, Limits
from .scripts import Script, torch_inputs_lines
from .sources import SourceModel
from .tensorflow_script import keras_inputs_lines, onnx_inputs_lines, tensorflow_inputs_lines

if TYPE_CHECKING:
    import numpy.typing as npt

_INPUTS = "inputs.json"
_LINES = {
    "tensorflow": tensorflow_inputs_lines,
    "keras": keras_inputs_lines,
    "onnx2tf": onnx_inputs_lines,
    "litert-torch": torch_inputs_lines,
}
_LISTED = """\
with open({file!r}, "w") as file:
    sizes = [[size if isinstance(size, int) else None for size in shape] for _, shape, _ in inputs]
    json.dump([(name, shape, str(kind)) for (name, _, kind), shape in zip(inputs, sizes)], file)
"""
_DRAWN = """\
given = {shapes!r}
inputs = [(name, given.get(name) or [size or 1 for size in shape], kind) for name, shape, kind in inputs]
"""
_STORED = """\
for number, sample in enumerate(samples()):
    np.savez(f"sample_{number}.npz", *[np.asarray(sample[name]) for name, _, _ in inputs])
"""


@dataclass(frozen=True, slots=True)
class SourceInput:
    """An input of a source model. A size of None is unknown."""

    name: str
    shape: tuple[int | None, ...]
    kind: str
    """The name of the NumPy type."""


@dataclass(frozen=True, slots=True, eq=False)
class UserSamples:
    """The user's data. Each sample has one array for each input of the source model, in the order of the inputs."""

    inputs: tuple[SourceInput, ...]
    samples: tuple[tuple[npt.NDArray[Any], ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the source model's inputs."""
        return tuple([item.name for item in self.inputs])


def user_samples(
    source: SourceModel,
    converter: Converter,
    calibration: Calibration,
    shapes: Sequence[tuple[str, tuple[int, ...]]] = (),
    limits: Limits | None = None,
) -> UserSamples:
    """Return the user's data for a source model. ``converter`` loads the model and lists its inputs.

    ``shapes`` are fixed shapes of inputs. Raise OptionError if the data does not fit the inputs, or has NaN or infinite
    values.
    """
    with tempfile.TemporaryDirectory(prefix="delegate-sim-", ignore_cleanup_errors=True) as folder:
        ended = run_script(_script(source, converter, calibration, shapes), folder, limits or Limits())
        path = os.path.join(folder, _INPUTS)
        if not os.path.isfile(path):
            raise OptionError(printable(f"{converter.name} cannot list the inputs of {source.text}: {error_line(ended.printed)}"))
        with open(path, encoding="utf-8") as file:
            inputs = tuple([SourceInput(name, tuple(shape), kind) for name, shape, kind in json.load(file)])
        fixed = dict(shapes)
        inputs = tuple([SourceInput(item.name, fixed.get(item.name, item.shape), item.kind) for item in inputs])
        if calibration.kind is CalibrationKind.ARRAYS:
            return UserSamples(inputs, _from_arrays(calibration, inputs))
        if ended.status:
            raise OptionError(printable(f"{calibration.path}: no samples can be read: {error_line(ended.printed)}"))
        names = sorted([name for name in os.listdir(folder) if name.startswith("sample_")], key=lambda name: (len(name), name))
        samples = [_checked(os.path.join(folder, name), calibration, inputs) for name in names]
    if not samples:
        raise OptionError(printable(f"{calibration.path}: yields no samples"))
    return UserSamples(inputs, tuple(samples))


def _script(
    source: SourceModel, converter: Converter, calibration: Calibration, shapes: Sequence[tuple[str, tuple[int, ...]]]
) -> Script:
    imports, lines = _LINES[converter.name](source)
    lines = [*lines, _LISTED.format(file=_INPUTS)]
    if calibration.kind is not CalibrationKind.ARRAYS:
        data, more = data_part(calibration, has_tensorflow=converter.name == "tensorflow", moves_channels=False)
        imports = [*imports, *more]
        lines += [_DRAWN.format(shapes={name: list(sizes) for name, sizes in shapes}), data, _STORED]
    head = "\n".join(sorted({*imports, "import json", "import numpy as np"}))
    return Script(converter, "\n".join([f"{head}\n", *lines]), source)


def _checked(path: str, calibration: Calibration, inputs: Sequence[SourceInput]) -> tuple[npt.NDArray[Any], ...]:
    values = tuple(read_arrays(path, [f"arr_{place}" for place in range(len(inputs))]).values())
    for one, array in zip(inputs, values, strict=True):
        _check_finite(calibration, one, array)
    return values


def _check_finite(calibration: Calibration, one: SourceInput, array: npt.NDArray[Any]) -> None:
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        raise OptionError(printable(f"{calibration.path}: the data for input {one.name!r} has NaN or infinite values"))


def _from_arrays(calibration: Calibration, inputs: Sequence[SourceInput]) -> tuple[tuple[npt.NDArray[Any], ...], ...]:
    """Return the samples in a file of arrays. The first dimension of each array is the number of samples.

    Arrays have the names of the inputs. The only array for an only input may have any name.
    """
    stored = array_kinds(calibration.path)
    names = list(stored) if len(inputs) == len(stored) == 1 else [one.name for one in inputs]
    missing = [name for name in names if name not in stored]
    if missing:
        raise OptionError(
            printable(
                f"{calibration.path}: has no array {missing[0]!r}; its arrays are {', '.join(sorted(stored)) or 'none'}. "
                f"The inputs of the model are {', '.join([_described(one) for one in inputs])}"
            )
        )
    arrays = read_arrays(calibration.path, names)
    columns = [_column(calibration, one, arrays[name]) for one, name in zip(inputs, names, strict=True)]
    count = min([len(column) for column in columns], default=0)
    # bounded: the number of samples is an option
    return tuple([tuple([column[number] for column in columns]) for number in range(min(count, calibration.count))])


def _described(one: SourceInput) -> str:
    return f"{one.name} ({one.kind} {['?' if size is None else size for size in one.shape]})".replace("'", "")


def _column(calibration: Calibration, one: SourceInput, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kind = np.dtype(one.kind)
    if kind.kind in "iub" and array.dtype.kind not in "iub":
        raise OptionError(printable(f"{calibration.path}: array {one.name!r} is {array.dtype}, but the input takes {one.kind}"))
    _check_finite(calibration, one, array)
    rows = max(one.shape[0] or 1, 1) if one.shape else 1
    sample = (rows, *one.shape[1:]) if one.shape else ()
    rest = array.shape[1:]
    if array.ndim == len(one.shape) and array.ndim:
        rest = (rows, *rest)
    fits = array.ndim > 0 and len(rest) == len(sample)
    if not fits or any(size not in (None, own) for size, own in zip(sample, rest, strict=True)):
        raise OptionError(
            printable(
                f"{calibration.path}: array {one.name!r} of shape {list(array.shape)} does not fit the input "
                f"{_described(one)}; the first dimension must count the samples"
            )
        )
    count = array.size // max(element_count(rest), 1)
    if not count:
        raise OptionError(printable(f"{calibration.path}: array {one.name!r} is too small for one sample"))
    return array.reshape(-1)[: count * element_count(rest)].reshape(count, *rest).astype(kind)
