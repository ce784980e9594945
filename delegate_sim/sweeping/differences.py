"""Run a conversion and the float model on the CPU, and measure the difference between their outputs. Results are cached."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..conversion.cache import ConversionCache
from ..conversion.convert import Conversion
from ..conversion.samples import UserSamples
from ..errors import DelegateSimError, OptionError
from ..foundation.late_numpy import np
from ..foundation.packages import runtime_release
from ..foundation.printable import printable
from ..inference.difference import Difference, TensorDifference, check_installed, is_installed
from ..inference.models import compare_models
from ..model import schema
from ..model.model import Model, Tensor
from ..model.reader import load

if TYPE_CHECKING:
    import numpy.typing as npt

SAMPLES = 2
"""The number of inputs that are generated if the user gives no data."""
_FORMAT = 3


def difference_from(
    reference: Conversion, conversion: Conversion, cache: ConversionCache, data: UserSamples | None = None
) -> tuple[Difference | None, str]:
    """Compare the outputs of a conversion with the outputs of ``reference``, the same converter's float model.

    The models run on the user's data, or on generated inputs if there is no data. Return the difference and an empty string, or
    None and the reason why the difference is unknown. Failures are not cached, because the user may install missing packages
    later.
    """
    try:
        python, version = _runtime(conversion)
        key = _key(reference, conversion, version, data)
        result = _read(cache.find(key))
        if result is None:
            first = load(reference.path)
            arrays = [] if data is None else inputs_from(data, first)
            samples = 0 if arrays else SAMPLES
            second = load(conversion.path)
            result = compare_models(first, second, samples=samples, arrays=arrays, is_timed=False, python=python)
            with suppress(OSError):
                cache.keep(key, {"digest": "", "difference": asdict(result)}, None)
    except DelegateSimError as error:
        return None, str(error)
    if result.problem:
        return result, result.problem
    return result, "" if result.relative < float("inf") else "all outputs of the float model are 0"


def _runtime(conversion: Conversion) -> tuple[str, str]:
    """Return the Python interpreter that runs models, and the version of its runtime.

    The interpreter is empty if the current interpreter has the runtime. Otherwise, the result is a converter's interpreter that
    has the runtime or TensorFlow. Raise MissingPackageError if there is none.
    """
    if is_installed():
        return "", runtime_release().removeprefix("litert-")
    for step in conversion.route.steps:
        packages = {step.installed_name: step.version, **dict(step.companions)}
        package = next((name for name in _RUNTIMES if name in packages), None)
        if package is not None and step.python:
            return step.python, f"{package} {packages[package]}"
    check_installed()
    return "", ""


_RUNTIMES = ("ai-edge-litert", "ai-edge-litert-nightly", "tensorflow", "tensorflow-cpu")


def inputs_from(data: UserSamples, model: Model) -> list[list[npt.NDArray[Any]]]:
    """Return the user's samples as inputs of a converted model.

    Inputs are matched by signature name or tensor name, otherwise by position. If the converter moved channels to the last
    dimension, the samples are changed in the same way. Raise OptionError if an input does not fit.
    """
    graph = model.subgraphs[0]
    signature = next((own for own in model.signatures if own.subgraph == 0), None)
    by_index = {} if signature is None else {index: name for name, index in signature.inputs.items()}
    if len(graph.inputs) != len(data.inputs):
        raise OptionError(f"the model has {len(graph.inputs)} inputs, but the source has {len(data.inputs)}")
    tensors = [graph.tensors[index] for index in graph.inputs]
    names = [_own_name(tensor, by_index.get(tensor.index, ""), data.names) for tensor in tensors]
    are_named = sorted(names) == sorted(data.names)
    places = [data.names.index(name) for name in names] if are_named else range(len(tensors))
    return [[_fitted(sample[place], tensor) for place, tensor in zip(places, tensors, strict=True)] for sample in data.samples]


def _own_name(tensor: Tensor, name: str, names: Sequence[str]) -> str:
    plain = tensor.name.removeprefix("serving_default_").partition(":")[0]
    return next((form for form in (name, tensor.name, plain) if form in names), "")


def _fitted(array: npt.NDArray[Any], tensor: Tensor) -> npt.NDArray[Any]:
    kind = schema.NUMPY_TYPES.get(tensor.type, "")
    sizes = tensor.shape_signature or tensor.shape
    forms = [array, *([np.moveaxis(array, 1, -1)] if array.ndim > 2 else [])]
    for form in forms:
        if form.ndim == len(sizes) and all(size in (-1, own) for size, own in zip(sizes, form.shape, strict=True)):
            return np.ascontiguousarray(form, kind)
    if array.size == tensor.element_count:
        return np.ascontiguousarray(array.reshape(tensor.shape), kind)
    raise OptionError(printable(f"data of shape {list(array.shape)} does not fit input {tensor.name!r} of shape {list(sizes)}"))


def _key(reference: Conversion, conversion: Conversion, version: str, data: UserSamples | None) -> str:
    parts = ("difference", str(_FORMAT), str(SAMPLES), version, reference.digest, conversion.digest)
    digest = hashlib.sha256("\0".join(parts).encode())
    for sample in () if data is None else data.samples:
        for array in sample:
            digest.update(str((array.dtype, array.shape)).encode() + array.tobytes())
    return digest.hexdigest()


def _read(entry: Mapping[str, Any] | None) -> Difference | None:
    """Return the difference in a cache entry; None if the entry is missing or invalid."""
    try:
        stored = entry["difference"] if entry is not None else None
        if stored is None:
            return None
        outputs = tuple([TensorDifference(**output) for output in stored["outputs"]])
        return Difference(outputs, (), int(stored["samples"]))
    except (KeyError, TypeError, ValueError):
        return None
