"""Convert a source model in many ways, and simulate each result on several targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..conversion.cache import ConversionCache
from ..conversion.convert import Conversion, convert
from ..conversion.converters import Converter, Route
from ..conversion.samples import UserSamples, user_samples
from ..conversion.settings import FLOAT, Settings
from ..conversion.sources import SourceModel
from ..diagnosis.diagnose import diagnose
from ..diagnosis.diagnosis import Diagnosis
from ..errors import ModelError
from ..foundation.limits import problem_text
from ..model.model import Model
from ..model.reader import load
from ..results.report.placement import undelegated_operators
from ..runtime.target import LabeledTarget, Target, with_labels
from .differences import difference_from
from .rows import SweepRow, pareto
from .search import SweepTrial, search
from .sweep_result import SweepRequest, Swept


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
    """Simulates and diagnoses conversions one by one. ``rows`` contains the finished rows."""

    def __init__(self, targets: Sequence[LabeledTarget], cache: ConversionCache, data: UserSamples | None) -> None:
        self._data = data
        self.rows: list[SweepRow] = []
        self._targets = targets
        self._latest: tuple[Diagnosis, ...] = ()
        self._cache = cache
        self._references: dict[Converter, Conversion] = {}
        """The float model of each converter."""

    def diagnoses(self, row: SweepRow) -> Iterator[tuple[str, Diagnosis]]:
        """Yield the diagnosis of the latest row on each target."""
        assert row.number == len(self.rows)
        for target, diagnosis in zip(self._targets, self._latest, strict=True):
            yield target.label, diagnosis

    def row(self, trial: SweepTrial, conversion: Conversion) -> SweepRow:
        """Simulate and diagnose a conversion, and return its row."""
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
