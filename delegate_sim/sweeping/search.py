"""The order of conversions: float first, then the changes that diagnoses advise, until no result changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..conversion.convert import FailureKind
from ..conversion.converters import Route
from ..conversion.settings import FLOAT, Settings, knows, settings_for
from ..diagnosis.advice.converter_settings import ConverterSetting, SettingsTogether
from ..diagnosis.advice.converter_settings import settings_for as settings_that_fix
from ..diagnosis.diagnosis import Diagnosis
from ..diagnosis.examiner import Cost
from ..errors import OptionError
from ..foundation.parsing.shapes import parse_shape
from .rows import Origin, SweepRow

Shapes = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs of an input's name and its shape."""


def parse_shapes(texts: Sequence[str]) -> Shapes:
    """Parse texts such as ``INPUT=1,224,224,3``. Raises OptionError for any other form."""
    return tuple(dict(map(parse_shape, texts)).items())


QUANTIZATIONS: Mapping[ConverterSetting, str] = {
    ConverterSetting.FLOAT: "float",
    ConverterSetting.FLOAT16: "float16",
    ConverterSetting.INT8: "int8",
}
"""Converter settings that are quantizations, with their names in ``Settings``."""
OPTIONS: Mapping[ConverterSetting, str] = {
    ConverterSetting.PER_TENSOR: "per-tensor",
    ConverterSetting.DENSE_PER_TENSOR: "dense-per-tensor",
    ConverterSetting.OLD_QUANTIZER: "old-quantizer",
    ConverterSetting.FIXED_SHAPES: "fixed",
    ConverterSetting.UNFOLD_BATCH_MATMUL: "unfolded",
    ConverterSetting.UNROLL: "unrolled",
}
"""Converter settings that are options, with their names in ``Settings``."""

FIXED = OPTIONS[ConverterSetting.FIXED_SHAPES]
EVERYWHERE = (FIXED, OPTIONS[ConverterSetting.UNFOLD_BATCH_MATMUL], OPTIONS[ConverterSetting.UNROLL])
"""Options that work with every quantization."""


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """Converter settings that fix a cause, and the name of the cause."""

    settings: SettingsTogether
    cause: str


def settings_changes(diagnosis: Diagnosis) -> Iterator[SettingsChange]:
    """Yield the changes that fix the causes of a diagnosis, largest gain first.

    If a cause must be fixed together with other causes, the change includes the settings for the other causes. If the fix of a
    cause does not improve the result, there is no change for this cause.
    """
    requested = {
        finding.cause.identity: settings_that_fix(diagnosis.model, diagnosis.target, finding.cause)
        for finding in diagnosis.findings
    }
    for finding in diagnosis.findings:
        if finding.needs is None:
            continue
        needed = [requested[identity][0] for identity in finding.needs if requested[identity]]
        for together in requested[finding.cause.identity]:
            others = frozenset().union(*needed)
            # The quantization that the cause itself suggests takes precedence.
            others = others - QUANTIZATIONS.keys() if together & QUANTIZATIONS.keys() else others
            yield SettingsChange(together | others, finding.cause.name)


def followed(settings: Settings, together: SettingsTogether, shapes: Shapes = ()) -> Settings | None:
    """Return settings with a change applied, or None if it changes nothing or is incompatible.

    ``shapes`` are the input shapes to use if the change fixes the shapes.
    """
    quantized = settings
    try:
        for setting, name in QUANTIZATIONS.items():
            if setting in together:
                quantized = quantized.with_quantization(name)
    except OptionError:
        return None
    names = [name for setting, name in OPTIONS.items() if setting in together and name not in quantized.options]
    changed = with_options(quantized, *names, shapes=shapes) if names else quantized
    return None if changed == settings else changed


def with_options(settings: Settings, *names: str, shapes: Shapes = ()) -> Settings | None:
    """Return settings with more options, or None if the options are incompatible.

    ``shapes`` is used only if ``names`` includes the option that fixes the input shapes.
    """
    try:
        changed = settings.with_option(*names)
    except OptionError:
        return None
    return replace(changed, shapes=shapes) if FIXED in names else changed


BEGINNING = Origin("the first conversion")
ASKED = Origin("asked for")
USUAL = Origin("often worth a try")
EVERYTHING = Origin("everything is tried")


@dataclass(frozen=True, slots=True)
class SweepTrial:
    """A conversion to try, and the reason for trying it."""

    route: Route
    settings: Settings
    origin: Origin
    parent: SweepRow | None = None


Take = Callable[[SweepTrial, int], SweepRow]
"""A function that converts a trial and simulates the result. Its arguments are the trial and the number of waiting trials."""
Diagnose = Callable[[SweepRow], Iterable[tuple[str, Diagnosis]]]
"""A function that returns the diagnosis of a row on each target, with the target's label."""


def usual_trials(routes: Sequence[Route], *, has_data: bool) -> Iterator[SweepTrial]:
    """Yield the trials that follow float if no settings are requested. Only one route of each converter is used for a setting.

    Settings that need calibration are included only if ``has_data`` is true.
    """
    for converter in dict.fromkeys([route.converter for route in routes]):
        for settings in [Settings(name) for name in ("float16", "dynamic-range", "int8")]:
            own = [route for route in routes if route.converter == converter and not route.is_missing and knows(route, settings)]
            if own and (has_data or not settings.calibrates):
                yield SweepTrial(own[0], settings, USUAL)


def search(
    routes: Sequence[Route],
    requested: Sequence[Settings],
    everything: bool,
    take: Take,
    diagnose: Diagnose,
    shapes: Shapes = (),
    has_data: bool = False,
) -> Iterator[SweepRow]:
    """Try conversions, and yield the row of each conversion when the conversion is finished.

    Each converter starts with float. The ``requested`` settings come next. If ``everything`` is true, all settings that the
    routes support follow. If no settings are requested, ``usual_trials`` follow; ``has_data`` is true if the user gave data.

    The diagnoses of the finished rows suggest further settings, and each new suggestion becomes a row. The diagnoses of a
    suggested row are used only if ``changes_something`` is true for the row. ``shapes`` are fixed input shapes, which are tried
    from the start. A converter that is not installed is tried once. If a converter has an error with float, the other settings
    are tried with fixed sizes of inputs, because some layers cannot be converted with unknown sizes.
    """
    fixed = with_options(FLOAT, FIXED, shapes=shapes) if shapes else None
    waiting = deque(_beginning(routes, [*([fixed] if fixed else []), *requested], everything))
    known = {(trial.route, trial.settings) for trial in waiting}
    if not requested:
        usual = [trial for trial in usual_trials(routes, has_data=has_data) if (trial.route, trial.settings) not in known]
        waiting.extend(usual)
        known.update([(trial.route, trial.settings) for trial in usual])
    missing: set[Route] = set()
    while waiting:
        trial = waiting.popleft()
        if trial.route in missing:
            continue
        row = take(trial, len(waiting))
        yield row
        failure = row.conversion.failure
        if failure is not None and failure.kind is FailureKind.MISSING:
            missing.add(trial.route)
        if failure is not None and failure.kind is FailureKind.ERROR and trial.settings == FLOAT:
            waiting = deque(_with_fixed_sizes(trial, row, waiting, shapes))
            known.update([(other.route, other.settings) for other in waiting])
        if not row.is_model or row.same_as is not None:
            continue
        is_changed = trial.parent is None or changes_something(row, trial.parent)
        if not is_changed:
            continue
        further = _combined(trial, row, routes, shapes) if everything else ()
        for next_trial in (*further, *_suggested(trial, row, routes, diagnose, shapes)):
            if (next_trial.route, next_trial.settings) not in known:
                known.add((next_trial.route, next_trial.settings))
                waiting.append(next_trial)


def _with_fixed_sizes(failed: SweepTrial, row: SweepRow, waiting: Iterable[SweepTrial], shapes: Shapes) -> Iterator[SweepTrial]:
    """Yield the waiting trials with fixed sizes of inputs, after a failed float conversion. Requested settings stay unchanged."""
    origin = Origin(f"row {row.number} has no model", row.number)
    tried = set()
    for trial in (replace(failed, origin=origin), *waiting):
        settings = trial.settings
        if trial.route.converter == failed.route.converter and trial.origin != ASKED:
            settings = with_options(settings, FIXED, shapes=shapes) or settings
        if knows(trial.route, settings) and (trial.route, settings) not in tried:
            tried.add((trial.route, settings))
            yield replace(trial, settings=settings)


def changes_something(row: SweepRow, parent: SweepRow) -> bool:
    """Return whether a row and its parent row have different results on any target.

    The compared results are the outcome, the delegated share of multiply-adds, the number of CPU nodes and the number of kernels.
    The parent is the row whose diagnosis suggested this row.
    """
    return [_standing(cost) for cost in row.costs] != [_standing(cost) for cost in parent.costs]


def _standing(cost: Cost) -> tuple[object, ...]:
    measures = cost.measures
    return measures.outcome, round(cost.multiply_add_share, 4), measures.fallback_nodes, measures.delegate_kernels


def _beginning(routes: Sequence[Route], requested: Sequence[Settings], everything: bool) -> Iterator[SweepTrial]:
    """Yield the initial trials without duplicates. A duplicate keeps the reason of its first occurrence."""
    first_trials: dict[tuple[Route, Settings], SweepTrial] = {}
    trials = [SweepTrial(route, FLOAT, BEGINNING) for route in routes if route.quantizer is None]
    trials += [SweepTrial(route, settings, ASKED) for settings in requested for route in routes if knows(route, settings)]
    if everything:
        trials += [SweepTrial(route, settings, EVERYTHING) for route in routes for settings in settings_for(route)]
    for trial in trials:
        first_trials.setdefault((trial.route, trial.settings), trial)
    yield from first_trials.values()


def _combined(trial: SweepTrial, row: SweepRow, routes: Sequence[Route], shapes: Shapes) -> Iterator[SweepTrial]:
    """Combine the trial's option with all settings that the routes support.

    Yield trials only if the trial is float with exactly one option, and this option works with every quantization.
    """
    if trial.settings.quantization != FLOAT.quantization or len(trial.settings.options) != 1:
        return
    (option,) = trial.settings.options
    if option not in EVERYWHERE:
        return
    origin = replace(EVERYTHING, row=row.number)
    for route in _alongside(trial.route, routes):
        for settings in settings_for(route):
            together = None if option in settings.options else with_options(settings, option, shapes=shapes)
            if together is not None:
                yield SweepTrial(route, together, origin, row)


def _suggested(
    trial: SweepTrial, row: SweepRow, routes: Sequence[Route], diagnose: Diagnose, shapes: Shapes
) -> Iterator[SweepTrial]:
    for label, diagnosis in diagnose(row):
        for change in settings_changes(diagnosis):
            settings = followed(trial.settings, change.settings, shapes)
            if settings is None:
                continue
            origin = Origin(f"for {label}: {change.cause}", row.number, label, change.cause)
            for route in _alongside(trial.route, routes):
                if knows(route, settings):
                    yield SweepTrial(route, settings, origin, row)


def _alongside(route: Route, routes: Sequence[Route]) -> list[Route]:
    return [other for other in routes if other.converter == route.converter]
