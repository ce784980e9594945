"""The order of conversions: float first, then where diagnosis points, until nothing changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..conversion.convert import FailureKind
from ..conversion.converters import Route
from ..conversion.settings import FLOAT, Settings, knows, settings_for
from ..diagnosis.diagnosis import Diagnosis
from ..diagnosis.examiner import Cost
from .directions import EVERYWHERE, FIXED, directions, followed, with_options
from .rows import Origin, SweepRow
from .shapes import Shapes

BEGINNING = Origin("the beginning")
ASKED = Origin("asked for")
EVERYTHING = Origin("everything is tried")


@dataclass(frozen=True, slots=True)
class SweepTrial:
    """A conversion to try, and why."""

    route: Route
    settings: Settings
    origin: Origin
    parent: SweepRow | None = None


Take = Callable[[SweepTrial, int], SweepRow]
"""Converts and judges; told how many trials are known to come after it."""
Diagnose = Callable[[SweepRow], Iterable[tuple[str, Diagnosis]]]
"""Returns the diagnosis of a row on each target, by the target's label."""


def search(
    routes: Sequence[Route],
    asked: Sequence[Settings],
    everything: bool,
    take: Take,
    diagnose: Diagnose,
    shapes: Shapes = (),
) -> Iterator[SweepRow]:
    """Return rows as they are found.

    Every converter begins with float, then with what is ``asked`` for, or with ``everything`` that the routes know. From each
    model that is taken otherwise than the one it comes from, by any target, the causes of its diagnosis point to the next.
    ``shapes`` are what inputs are fixed to, which is tried from the beginning. What is not installed is tried once.
    """
    fixed = with_options(FLOAT, FIXED, shapes=shapes) if shapes else None
    waiting = deque(_beginning(routes, [*([fixed] if fixed else []), *asked], everything))
    known = {(trial.route, trial.settings) for trial in waiting}
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
        if not row.is_model or row.same_as is not None:
            continue
        is_changed = trial.parent is None or changes_something(row, trial.parent)
        if not is_changed:
            continue
        further = _combined(trial, row, routes, shapes) if everything else ()
        for each in (*further, *_pointed(trial, row, routes, diagnose, shapes)):
            if (each.route, each.settings) not in known:
                known.add((each.route, each.settings))
                waiting.append(each)


def changes_something(row: SweepRow, parent: SweepRow) -> bool:
    """Whether a target takes another share of a model than of the one that it comes from, or in another number of kernels."""
    return [_standing(cost) for cost in row.costs] != [_standing(cost) for cost in parent.costs]


def _standing(cost: Cost) -> tuple[object, ...]:
    measures = cost.measures
    return measures.outcome, round(cost.multiply_add_share, 4), measures.fallback_nodes, measures.delegate_kernels


def _beginning(routes: Sequence[Route], asked: Sequence[Settings], everything: bool) -> Iterator[SweepTrial]:
    """Return each trial once, for the first reason that there is."""
    found: dict[tuple[Route, Settings], SweepTrial] = {}
    trials = [SweepTrial(route, FLOAT, BEGINNING) for route in routes if route.quantizer is None]
    trials += [SweepTrial(route, settings, ASKED) for settings in asked for route in routes if knows(route, settings)]
    if everything:
        trials += [SweepTrial(route, settings, EVERYTHING) for route in routes for settings in settings_for(route)]
    for trial in trials:
        found.setdefault((trial.route, trial.settings), trial)
    yield from found.values()


def _combined(trial: SweepTrial, row: SweepRow, routes: Sequence[Route], shapes: Shapes) -> Iterator[SweepTrial]:
    """Return every setting together with an option that goes with all of them and changes something."""
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


def _pointed(
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
    """Return a route, and the others that begin with the same converter."""
    return [other for other in routes if other.converter == route.converter]
