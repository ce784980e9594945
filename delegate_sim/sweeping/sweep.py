"""Convert a source model in many ways, and simulate each result on several targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..conversion.cache import ConversionCache
from ..conversion.convert import Conversion, convert
from ..conversion.converters import Converter, Route
from ..conversion.settings import FLOAT
from ..conversion.sources import SourceModel
from ..diagnosis.diagnose import diagnose
from ..diagnosis.diagnosis import Diagnosis
from ..errors import ModelError
from ..foundation.limits import problem_text
from ..model.reader import load
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
    """Convert a source model, first to float and then with suggested settings, and simulate each conversion on every target.

    ``show`` is called before each conversion with the number of finished conversions, the number of remaining conversions, and
    the name of the conversion. After KeyboardInterrupt, the finished rows are returned.
    """
    request = request or SweepRequest()
    labeled = with_labels(targets)
    judge = _Judge(labeled, cache)

    def take(trial: SweepTrial, left: int) -> SweepRow:
        show(len(judge.rows), left + 1, f"{trial.route.name}: {trial.settings.name}")
        conversion = convert(source, trial.route, trial.settings, cache, request.calibration, request.limits)
        return judge.row(trial, conversion)

    is_interrupted = False
    try:
        for _ in search(routes, request.settings, request.everything, take, judge.diagnoses, request.shapes):
            pass
    except KeyboardInterrupt:
        is_interrupted = True
    best = pareto(judge.rows)
    rows = [replace(row, is_best=row.number in best) for row in judge.rows]
    return Swept(source, labeled, request, tuple(rows), is_interrupted)


class _Judge:
    """Simulates and diagnoses conversions one by one. ``rows`` contains the finished rows."""

    def __init__(self, targets: Sequence[LabeledTarget], cache: ConversionCache) -> None:
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
        earlier = next((other for other in self.rows if other.is_model and other.conversion.digest == conversion.digest), None)
        if earlier is not None:
            row = replace(row, same_as=earlier.number, costs=earlier.costs)
        else:
            try:
                self._latest = tuple([diagnose(model, target.target) for target in self._targets])
            except Exception as error:  # a conversion that fails also gets a row
                return replace(row, unreadable=problem_text(error, "this conversion")[0])
            row = replace(row, costs=tuple([diagnosis.now for diagnosis in self._latest]))
        if conversion.settings == FLOAT and conversion.route.quantizer is None:
            self._references.setdefault(conversion.route.converter, conversion)
        return self._compared(row)

    def _compared(self, row: SweepRow) -> SweepRow:
        reference = self._references.get(row.conversion.route.converter)
        if reference is None:
            return replace(row, no_difference="there is no float model to compare with")
        difference, why = difference_from(reference, row.conversion, self._cache)
        return replace(row, difference=difference, no_difference=why)
