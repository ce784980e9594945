"""Convert a source model in many ways, and simulate each result on several targets.

A conversion and the float model also run on the CPU, to measure the difference between their outputs. Results are cached.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ..conversion.cache import ConversionCache
from ..conversion.convert import Conversion, convert
from ..conversion.converters import Converter, Route
from ..conversion.samples import UserSamples, user_samples
from ..conversion.settings import FLOAT, Settings
from ..conversion.sources import SourceModel
from ..diagnosis.diagnose import diagnose
from ..diagnosis.diagnosis import Diagnosis
from ..errors import DelegateSimError, ModelError, OptionError
from ..foundation.late_numpy import np
from ..foundation.limits import problem_text
from ..foundation.packages import runtime_release
from ..foundation.printable import printable
from ..inference.difference import Difference, TensorDifference, check_installed, is_installed
from ..inference.models import compare_models
from ..model import schema
from ..model.model import Model, Tensor
from ..model.reader import load
from ..results.report.placement import undelegated_operators
from ..runtime.target import LabeledTarget, Target, with_labels
from .rows import SweepRow, pareto
from .search import SweepTrial, search
from .sweep_result import SweepRequest, Swept

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
    try:
        stored = entry["difference"] if entry is not None else None
        if stored is None:
            return None
        outputs = tuple([TensorDifference(**output) for output in stored["outputs"]])
        return Difference(outputs, (), int(stored["samples"]))
    except (KeyError, TypeError, ValueError):
        return None


def sweep(
    source: SourceModel,
    targets: Sequence[Target],
    routes: Sequence[Route],
    cache: ConversionCache,
    request: SweepRequest | None = None,
    show: Callable[[int, int, str], None] = lambda done, left, name: None,
) -> Swept:
    """Convert a source model in many ways, and simulate each conversion on every target.

    The sweep first converts to float, then with the settings of ``request`` and with suggested settings. ``show`` is called
    before each conversion with the number of finished conversions, the number of remaining conversions, and the name of the
    conversion. After KeyboardInterrupt, the finished rows are returned. Raise OptionError if the user's data does not fit the
    source model.
    """
    request = request or SweepRequest()
    labeled = with_labels(targets)
    data = _data(source, routes, request)
    if data is not None:
        request = replace(request, calibration=replace(request.calibration, inputs=data.names))
    judge = _Judge(labeled, cache, data)

    def take(trial: SweepTrial, left: int) -> SweepRow:
        show(len(judge.rows), left + 1, f"{trial.route.name}: {trial.settings.name}")
        conversion = convert(source, trial.route, trial.settings, cache, request.calibration, request.limits)
        return judge.row(trial, conversion)

    is_interrupted = False
    try:
        settings, has_data = request.settings, data is not None
        for _ in search(routes, settings, request.everything, take, judge.diagnoses, request.shapes, has_data):
            pass
    except KeyboardInterrupt:
        is_interrupted = True
    best = pareto(judge.rows, request.max_difference)
    rows = [replace(row, is_best=row.number in best) for row in judge.rows]
    return Swept(source, labeled, request, tuple(rows), is_interrupted)


def _data(source: SourceModel, routes: Sequence[Route], request: SweepRequest) -> UserSamples | None:
    """Return the user's data in the order of the inputs, or None if there is no data or no converter can list the inputs."""
    converter = next((route.converter for route in routes if not route.converter.is_missing), None)
    if request.calibration.is_drawn or converter is None:
        return None
    return user_samples(source, converter, request.calibration, request.shapes, request.limits)


class _Judge:
    def __init__(self, targets: Sequence[LabeledTarget], cache: ConversionCache, data: UserSamples | None) -> None:
        self._data = data
        self.rows: list[SweepRow] = []
        self._targets = targets
        self._latest: tuple[Diagnosis, ...] = ()
        self._cache = cache
        self._references: dict[Converter, Conversion] = {}
        """The float model of each converter."""

    def diagnoses(self, row: SweepRow) -> Iterator[tuple[str, Diagnosis]]:
        assert row.number == len(self.rows)
        for target, diagnosis in zip(self._targets, self._latest, strict=True):
            yield target.label, diagnosis

    def row(self, trial: SweepTrial, conversion: Conversion) -> SweepRow:
        row = SweepRow(len(self.rows) + 1, conversion, trial.origin)
        if conversion.failure is None:
            row = self._judged(row)
        self.rows.append(row)
        return row

    def _judged(self, row: SweepRow) -> SweepRow:
        conversion = row.conversion
        try:
            model = load(conversion.path)
        except ModelError as error:
            return replace(row, unreadable=f"cannot be read: {error}")
        fault = unquantized(model, conversion.settings)
        if fault:
            return replace(row, unreadable=fault)
        earlier = next((other for other in self.rows if other.is_model and other.conversion.digest == conversion.digest), None)
        if earlier is not None:
            row = replace(row, same_as=earlier.number, costs=earlier.costs, left=earlier.left)
        else:
            try:
                self._latest = tuple([diagnose(model, target.target) for target in self._targets])
            except Exception as error:  # a failed conversion has a row too
                return replace(row, unreadable=problem_text(error, "this conversion")[0])
            left = tuple([tuple(undelegated_operators(diagnosis.run).items()) for diagnosis in self._latest])
            row = replace(row, costs=tuple([diagnosis.now for diagnosis in self._latest]), left=left)
        is_float = conversion.settings.quantization == FLOAT.quantization and conversion.route.quantizer is None
        if is_float and conversion.route.converter not in self._references:
            self._references[conversion.route.converter] = conversion
            row = replace(row, is_float_model=True)
        return self._compared(row)

    def _compared(self, row: SweepRow) -> SweepRow:
        reference = self._references.get(row.conversion.route.converter)
        if reference is None:
            return replace(row, no_difference="there is no float model to compare with")
        difference, why = difference_from(reference, row.conversion, self._cache, self._data)
        return replace(row, difference=difference, no_difference=why)


_QUANTIZED = frozenset({"FLOAT16", "INT2", "INT4", "INT8", "UINT8", "INT16"})


def unquantized(model: Model, settings: Settings) -> str:
    """Return an error text if a quantization was requested but the model has no quantized tensor; otherwise empty."""
    if settings.quantization == FLOAT.quantization:
        return ""
    if any(tensor.type in _QUANTIZED for graph in model.subgraphs for tensor in graph.tensors):
        return ""
    return f"has no quantized tensor, although {settings.quantization} was requested"
