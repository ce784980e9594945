"""Compare one model and delegate across releases of the platform behind the delegate."""

from __future__ import annotations

from dataclasses import dataclass

from ...delegates.base import Delegate, OptionValues
from ...graph.analysis_cache import AnalysisCache
from ...model.model import Model
from ...releases.catalogue import DEFAULT_RELEASE, parse_release
from ...runtime.interpreter import Assumptions, simulate
from ...runtime.run import Refusal
from ..report.measures import Measures, measure


@dataclass(frozen=True, slots=True)
class PlatformRow:
    """One release of the platform, with why it refuses the model, if it does, and what is uncertain about it."""

    platform: str
    release: str
    measures: Measures
    refusal: Refusal | None
    notes: tuple[str, ...]


def platform_rows(
    model: Model,
    delegate: Delegate,
    options: OptionValues,
    defaults: str,
    cache: AnalysisCache,
    *,
    has_own_resolver: bool = False,
) -> tuple[PlatformRow, ...]:
    """Simulate the default release of the runtime on each release of the platform; nothing where there is no platform."""
    platform = delegate.platform
    if platform is None or options[platform.option] == platform.alone:
        return ()
    rows = []
    release, assumptions = parse_release(DEFAULT_RELEASE), Assumptions(has_own_resolver=has_own_resolver)
    for name in platform.releases:
        own = {**options, platform.option: name}
        run = simulate(model, delegate, own, release, defaults, assumptions, cache)
        notes = tuple(delegate.platform_notes(own))
        rows.append(PlatformRow(platform.key, name, measure(run), run.refusal, notes))
    return tuple(rows)
