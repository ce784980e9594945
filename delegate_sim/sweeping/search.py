"""The order of conversions: float first, then the suggestions of diagnoses, until no result changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..conversion.convert import FailureKind
from ..conversion.converters import Route
from ..conversion.settings import FLOAT, Settings, knows, settings_for
from ..diagnosis.diagnosis import Diagnosis
from ..diagnosis.examiner import Cost
from .directions import EVERYWHERE, FIXED, Shapes, directions, followed, with_options
from .rows import Origin, SweepRow

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
        for direction in directions(diagnosis):
            settings = followed(trial.settings, direction.settings, shapes)
            if settings is None:
                continue
            origin = Origin(f"for {label}: {direction.cause}", row.number, label, direction.cause)
            for route in _alongside(trial.route, routes):
                if knows(route, settings):
                    yield SweepTrial(route, settings, origin, row)


def _alongside(route: Route, routes: Sequence[Route]) -> list[Route]:
    return [other for other in routes if other.converter == route.converter]
